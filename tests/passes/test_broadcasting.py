"""What is made as large as what it is combined with is left to whoever combines it: the same
answers at every size, in ONNX Runtime and in onnx's own evaluator."""

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

# The graph, and what is left of it; x is [b, 3, s, s], m [s, s] of truth values.
CASES = {
    "expanded": (
        "z = Shape(x) e = Expand(m, z) w = Where(e, nothing, lowest) y = Add(x, w)",
        {"Where": 1, "Add": 1},
    ),
    "filled": (
        "z = Shape(x) f = ConstantOfShape<value = float[1] {2.0}>(z) y = Max(x, f)",
        {"Max": 1},
    ),
    "repeated": (
        (
            "r = ReduceMax<keepdims = 1>(x, three) z = Shape<start = 3>(x) "
            "t = Concat<axis = 0>(ones, z) w = Tile(r, t) y = Sub(x, w)"
        ),
        {"ReduceMax": 1, "Sub": 1},
    ),
    "leading-axes": (
        "u = Unsqueeze(m, both) n = Not(u) y = Where(n, x, lowest)",
        {"Where": 1},
    ),
    "always-true": (
        (
            "z = Shape<start = 3>(x) l = Squeeze(z) r = Range(zero, l, one) "
            "c = Unsqueeze(r, last) h = GreaterOrEqual(c, zero) a = And(h, m) "
            "y = Where(a, x, lowest)"
        ),
        {"Where": 1},
    ),
    "asked-for-whole": (
        "z = Shape(x) e = Expand(m, z) w = Where(e, nothing, lowest) y = Softmax<axis = 3>(w)",
        {"Shape": 1, "Concat": 1, "Expand": 1, "Where": 1, "Softmax": 1},
    ),
}
SIZES = [(2, 5), (1, 1), (2, 0), (0, 3)]


def model(body: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]>\n'
        "g (float[b, 3, s, s] x, bool[s, s] m) => (float[b, 3, s, s] y)\n"
        "<int64 zero = {0}, int64 one = {1}, int64[1] three = {3}, int64[3] ones = {1, 1, 1}, "
        "int64[2] both = {0, 1}, int64[1] last = {1}, float nothing = {0}, float lowest = {-1e9}>\n"
        f"{{ {body} }}"
    )


@pytest.mark.parametrize("case", CASES)
def test_readers_broadcast(case: str) -> None:
    body, left = CASES[case]
    before = model(body)
    after, _ = sardonyx.optimize(before)
    onnx.checker.check_model(after, full_check=True)
    assert Counter(node.op_type for node in after.graph.node) == left
    sessions = [
        onnxruntime.InferenceSession(each.SerializeToString(), providers=["CPUExecutionProvider"])
        for each in (before, after)
    ]
    for batch, size in SIZES:
        if size == 0 and "ReduceMax" in left:
            continue  # ONNX Runtime finds no greatest of nothing
        draw = np.random.default_rng(size)
        x = draw.standard_normal((batch, 3, size, size)).astype(np.float32)
        x[:1, :1, :1] = np.nan
        x[:1, 1:2, :1] = -np.inf
        feed = {"x": x, "m": draw.random((size, size)) > 0.5}
        wanted = sessions[0].run(None, feed)[0]
        np.testing.assert_array_equal(sessions[1].run(None, feed)[0], wanted)
        np.testing.assert_array_equal(ReferenceEvaluator(after).run(None, feed)[0], wanted)
