"""Scores hidden by minus infinity, where each query is seen to keep a key: one Attention."""

from __future__ import annotations

import numpy as np
import onnx.checker
import onnx.parser
import onnxruntime as ort
import pytest

import sardonyx

# What comes between the scaled scores `p` and the softmax of `h`.
MASKS = {
    "causal": "seen = LessOrEqual(keys, queries) h = Where(seen, p, lowest)",
    "hidden where later": "later = Greater(keys, queries) h = Where(later, lowest, p)",
    "a window": (
        "near = Sub(queries, three) i = Greater(keys, near) c = LessOrEqual(keys, queries) "
        "seen = And(i, c) h = Where(seen, p, lowest)"
    ),
    "a triangle that is added": (
        "n = Concat<axis = 0>(length, length) f = Expand(lowest, n) "
        "m = Trilu<upper = 1>(f, one) h = Add(p, m)"
    ),
    "a triangle of ones": (
        "n = Concat<axis = 0>(length, length) f = Expand(unit, n) t = Trilu<upper = 0>(f) "
        "none = Equal(t, zero) h = Where(none, lowest, p)"
    ),
    "slopes before it": (
        "d = Sub(keys, queries) e = Cast<to = 1>(d) u = Unsqueeze(e, first) g = Mul(u, slopes) "
        "a = Add(p, g) seen = LessOrEqual(keys, queries) h = Where(seen, a, lowest)"
    ),
    "capped": (
        "o = Div(p, five) t = Tanh(o) c = Mul(t, five) seen = LessOrEqual(keys, queries) "
        "h = Where(seen, c, lowest)"
    ),
}


@pytest.mark.parametrize("opset", [17, 23])
@pytest.mark.parametrize("name", MASKS)
def test_rows_that_keep_a_key(name: str, opset: int) -> None:
    before = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 17]>
        graph (float[B, 2, S, 8] q, float[B, 2, S, 8] k, float[B, 2, S, 8] v)
          => (float[B, 2, S, 8] y)
        <float scale = {{0.25}}, float lowest = {{-inf}}, float zero = {{0}}, float five = {{5}},
         float unit = {{1}}, float[2, 1, 1] slopes = {{0.5, 0.25}}, int64 one = {{1}},
         int64 three = {{3}}, int64 none_yet = {{0}}, int64[1] first = {{0}},
         int64[1] second = {{1}}, int64[1] two = {{2}}, int64[1] end = {{3}}> {{
          s = Shape(q)
          length = Slice(s, two, end)
          number = Squeeze(length)
          range = Range(none_yet, number, one)
          keys = Unsqueeze(range, first)
          queries = Unsqueeze(range, second)
          turned = Transpose<perm = [0, 1, 3, 2]>(k)
          product = MatMul(q, turned)
          p = Mul(product, scale)
          {MASKS[name]}
          weights = Softmax<axis = -1>(h)
          y = MatMul(weights, v)
        }}
    """)
    after, _ = sardonyx.optimize(before, opset=opset)
    onnx.checker.check_model(after, full_check=True)
    operators = [node.op_type for node in after.graph.node]
    assert len(operators) < len(before.graph.node)
    assert ("Attention" in operators) == (opset == 23)
    random = np.random.default_rng(0)
    for batch, length in ((2, 5), (1, 1), (3, 9)):
        feed = {
            each: random.normal(size=(batch, 2, length, 8)).astype(np.float32) for each in "qkv"
        }
        want, got = (
            ort.InferenceSession(each.SerializeToString()).run(None, feed)[0]
            for each in (before, after)
        )
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
