"""Slices of Slices, Pads of Pads and poolings of what is padded: fewer nodes, the same answers at
every size, in ONNX Runtime and in onnx's own evaluator."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import onnx.checker
import onnx.parser
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

import sardonyx

# The graph, what is left of it, and the sizes of `h` and `w` in x: [2, 3, h, w].
CASES = {
    "merged-patches": (
        (
            "a = Slice(x, zero, most, two, two) b = Slice(x, one, most, two, two) "
            "c = Slice(a, zero, most, three, two) d = Slice(a, one, most, three, two) "
            "e = Slice(b, zero, most, three, two) f = Slice(b, one, most, three, two) "
            "y = Concat<axis = 1>(c, d, e, f)"
        ),
        {"Slice": 4, "Concat": 1},
        [(4, 6), (2, 2), (0, 4)],
    ),
    "among-what-is-taken": (
        "a = Slice(x, one, most, three, three) y = Slice(a, one, five, three, two)",
        {"Slice": 1},
        [(1, 30), (1, 14), (2, 8), (1, 5), (1, 1), (1, 0)],
    ),
    "from-the-back": (
        "a = Slice(x, two, most, three) y = Slice(a, one, minus_two, three)",
        {"Slice": 1},
        [(1, 9), (1, 6), (1, 5), (1, 4), (1, 1), (1, 0)],
    ),
    "an-end-before-the-other": (
        "a = Slice(x, one, five, three) y = Slice(a, zero, three, three)",
        {"Slice": 1},
        [(1, 9), (1, 4), (1, 2), (1, 1), (1, 0)],
    ),
    "from-the-back-first": (
        "a = Slice(x, minus_two, most, three) y = Slice(a, one, two, three)",
        {"Slice": 2},
        [(1, 9), (1, 2), (1, 1), (1, 0)],
    ),
    "pads": (
        "a = Pad(x, around) b = Pad(a, behind, nothing, three) y = Neg(b)",
        {"Pad": 1, "Neg": 1},
        [(2, 3), (1, 1), (0, 2)],
    ),
    "edges": (
        'a = Pad<mode = "edge">(x, around) y = Pad<mode = "edge">(a, around)',
        {"Pad": 1},
        [(2, 3), (1, 1)],
    ),
    "mean-of-padded": (
        "a = Pad(x, around) y = AveragePool<kernel_shape = [3, 4], strides = [2, 1]>(a)",
        {"AveragePool": 1},
        [(4, 5), (1, 1), (7, 2)],
    ),
    "mean-of-padded-twice": (
        (
            "a = Pad(x, around) y = AveragePool<kernel_shape = [4, 4], pads = [1, 1, 1, 1], "
            "count_include_pad = 1>(a)"
        ),
        {"AveragePool": 1},
        [(4, 5), (1, 1)],
    ),
    "maximum-of-padded": (
        "a = Pad(x, around, lowest) y = MaxPool<kernel_shape = [3, 3], pads = [0, 1, 0, 0]>(a)",
        {"MaxPool": 1},
        [(4, 5), (2, 2)],
    ),
    "maximum-of-what-is-not-below-zero": (
        "r = Relu(x) a = Pad(r, around) y = MaxPool<kernel_shape = [3, 3], strides = [2, 2]>(a)",
        {"Relu": 1, "MaxPool": 1},
        [(4, 5), (1, 1)],
    ),
}
NUMBERS = {
    "zero": [0],
    "one": [1],
    "two": [2],
    "three": [3],
    "five": [5],
    "minus_two": [-2],
    "most": [2**63 - 1],
    "around": [0, 0, 1, 1, 0, 0, 1, 2],
    "behind": [2, 0],
}


def model(body: str) -> onnx.ModelProto:
    text = (
        '<ir_version: 10, opset_import: ["" : 21]>\n'
        f"g (float[2, 3, h, w] x) => (float[n, c, p, q] y) {{ {body} }}"
    )
    made = onnx.parser.parse_model(text)
    constants = {name: np.array(value, np.int64) for name, value in NUMBERS.items()}
    constants["lowest"] = np.array(-np.inf, np.float32)  # type: ignore[assignment]
    constants["nothing"] = np.array(0, np.float32)  # type: ignore[assignment]
    made.graph.initializer.extend(
        onnx.numpy_helper.from_array(value, name) for name, value in constants.items()
    )
    return made


def run(proto: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    result: np.ndarray = session.run(None, {"x": x})[0]
    return result


@pytest.mark.parametrize("name", CASES)
def test_answers_stay(name: str) -> None:
    body, left, sizes = CASES[name]
    before = model(body)
    after, _ = sardonyx.optimize(before, runtime="standard")
    onnx.checker.check_model(after, full_check=True)
    assert Counter(node.op_type for node in after.graph.node) == left
    for size in sizes:
        x = np.random.default_rng(0).standard_normal((2, 3, *size)).astype(np.float32)
        x.flat[:1] = np.nan if "maximum" not in name else -1
        expected = run(before, x)
        np.testing.assert_allclose(run(after, x), expected, rtol=1e-6, atol=1e-6)
        if "Pool" not in body:  # its poolings round sizes and count pads in ways of their own
            (again,) = ReferenceEvaluator(after).run(None, {"x": x})
            np.testing.assert_allclose(again, expected, rtol=1e-6, atol=1e-6)
