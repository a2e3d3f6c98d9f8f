"""Models of frameworks that have channels last, as converters write them with transpositions round
every convolution: none are left between layers, and the answers are the same at every size."""

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

FIRST, LAST = "Transpose<perm = [0, 3, 1, 2]>", "Transpose<perm = [0, 2, 3, 1]>"
CONV = f"f# = {FIRST}(@) c# = Conv<kernel_shape = [1, 1]>(f#, w) l# = {LAST}(c#)"


def conv(number: int, x: str) -> str:
    return CONV.replace("#", str(number)).replace("@", x)


# The graph, what is left of it, and the sizes of n, h and w in x: [n, h, w, 3].
CASES = {
    "bias-and-activation": (
        f"{conv(0, 'x')} a = Add(l0, row) r = Relu(a) {conv(1, 'r')} y = Neg(l1)",
        {"Transpose": 2, "Conv": 2, "Add": 1, "Relu": 1, "Neg": 1},
        [(1, 2, 3), (2, 1, 1), (0, 2, 2)],
    ),
    "residual-and-gate": (
        (
            f"{conv(0, 'x')} m = ReduceMean(l0, plane) {conv(1, 'm')} s = Sigmoid(l1) "
            f"g = Mul(l0, s) j = Add(g, l0) {conv(2, 'j')} y = ReduceMean<keepdims = 0>(l2, plane)"
        ),
        {"Transpose": 1, "Conv": 3, "ReduceMean": 2, "Sigmoid": 1, "Mul": 1, "Add": 1},
        [(1, 2, 3), (2, 1, 1)],
    ),
    "joined-and-padded": (
        (
            f"{conv(0, 'x')} p = Pad(l0, pads) {conv(1, 'p')} q = Tanh(l1) {conv(2, 'p')} "
            f"j = Concat<axis = -1>(q, l2) k, o = Split<axis = 3>(j, parts) {conv(3, 'k')} "
            "y = Softmax<axis = -1>(l3)"
        ),
        None,
        [(1, 2, 3), (2, 1, 1)],
    ),
    "resized": (
        (
            f"{conv(0, 'x')} z = Resize(l0, , scales) s = Slice(z, one, four, planes) "
            f"{conv(1, 's')} y = Neg(l1)"
        ),
        {"Transpose": 2, "Conv": 2, "Resize": 1, "Slice": 1, "Neg": 1},
        [(1, 3, 3), (2, 2, 4)],
    ),
    "of-other-sizes": (  # an operand of which nothing is known but its rank
        f"{conv(0, 'x')} a = Add(l0, other) {conv(1, 'a')} y = Relu(l1)",
        {"Transpose": 4, "Conv": 2, "Add": 1, "Relu": 1},
        [(1, 2, 3)],
    ),
    "read-in-both-orders": (
        (
            f"{conv(0, 'x')} r = Relu(l0) {conv(1, 'r')} e = Exp(l1) t = Reshape(r, flat) "
            "y = Reshape(e, flat)"
        ),
        None,
        [(1, 2, 3)],
    ),
}


def model(body: str) -> onnx.ModelProto:
    ends = ["y"] + (["t"] if "t = Reshape" in body else [])
    outputs = ", ".join(f"float[{'k' if 'flat' in body else 'a, b, c, d'}] {end}" for end in ends)
    if "keepdims = 0" in body:
        outputs = "float[a, b] y"
    text = f"""
    <ir_version: 9, opset_import: ["" : 18]>
    graph (float[n, h, w, 3] x, float[n, i, j, 3] other) => ({outputs})
    <float[3, 3, 1, 1] w = {{1, 2, 3, -1, 2, -3, 0.5, 1, 1}}, float[3] row = {{1, -2, 3}},
     int64[2] plane = {{1, 2}}, int64[8] pads = {{0, 1, 0, 0, 0, 0, 2, 0}},
     int64[2] parts = {{3, 3}}, float[4] scales = {{1, 2, 3, 1}}, int64[2] one = {{1, 0}},
     int64[2] four = {{4, 3}}, int64[2] planes = {{1, 2}}, int64[1] flat = {{-1}}> {{
      {body}
    }}
    """
    return onnx.parser.parse_model(text)


def answers(given: onnx.ModelProto, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(given.SerializeToString(), options)
    return list(session.run(None, feed))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("opset", [None, 13, 23])
def test_transposed_no_more_than_it_must(name: str, opset: int | None) -> None:
    body, left, sizes = CASES[name]
    before = model(body)
    after, _ = sardonyx.optimize(before, opset=opset)
    onnx.checker.check_model(after, full_check=True)
    counts = Counter(node.op_type for node in after.graph.node)
    if left is not None:
        assert counts == left
    assert counts["Transpose"] <= Counter(node.op_type for node in before.graph.node)["Transpose"]
    for n, h, w in sizes:
        x = np.random.default_rng(h).normal(size=(n, h, w, 3)).astype(np.float32)
        feed = {"x": x, "other": x[:, :1, :1]}
        for run in (answers, lambda it, feed: ReferenceEvaluator(it).run(None, feed)):
            if n == 0 and run is not answers:
                continue  # the reference evaluator has no convolution of nothing
            for got, want in zip(run(after, feed), answers(before, feed), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_a_rule_disabled_leaves_them() -> None:
    before = model(CASES["bias-and-activation"][0])
    after, _ = sardonyx.optimize(before, disable=["propagate-transposes"])
    assert Counter(node.op_type for node in after.graph.node)["Transpose"] == 4
