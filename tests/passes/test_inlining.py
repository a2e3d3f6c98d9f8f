"""Calls of a model's own functions become what the functions do."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest

import sardonyx

NESTED = """
<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
graph (float[N, S, 4] x, float[4] w) => (float[N, S, 4] y) {
  a = own.block<eps = 0.5>(x, w)
  b = own.block(a, w)
  y = Identity(b)
}
<domain: "own", opset_import: ["" : 17]>
normal <eps: float = 0.25> (a) => (b) {
  m = ReduceMean<axes = [-1]>(a)
  d = Sub(a, m)
  p = Mul(d, d)
  v = ReduceMean<axes = [-1]>(p)
  e = Constant<value_float: float = @eps>()
  f = CastLike(e, v)
  s = Add(v, f)
  r = Sqrt(s)
  b = Div(d, r)
}
<domain: "own", opset_import: ["" : 17, "own" : 1]>
block <eps: float = 0.125> (a, w) => (b) {
  n = own.normal<eps: float = @eps>(a)
  b = Mul(n, w)
}
"""


def run(model: onnx.ModelProto, feed: dict[str, Any]) -> list[Any]:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    found: list[Any] = ort.InferenceSession(model.SerializeToString(), options).run(None, feed)
    return found


def feed() -> dict[str, Any]:
    drawn = np.random.default_rng(0)
    return {
        "x": drawn.standard_normal((2, 3, 4), np.float32),
        "w": drawn.standard_normal(4, np.float32),
    }


def same(after: onnx.ModelProto, before: onnx.ModelProto, given: dict[str, Any]) -> None:
    onnx.checker.check_model(after)
    for got, want in zip(run(after, given), run(before, given), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_an_opset_with_other_operators() -> None:
    """ReduceMean of opset 17 is none of opset 23, of which the model is to be."""
    model = onnx.parser.parse_model(NESTED)
    after, _ = sardonyx.optimize(model, opset=23)
    assert not after.functions
    assert [n.op_type for n in after.graph.node] == ["LayerNormalization"] * 2
    attributes = [{a.name: a for a in n.attribute} for n in after.graph.node]
    assert [round(each["epsilon"].f, 4) for each in attributes] == [0.5, 0.125]
    same(after, model, feed())


def test_functions_of_the_same_operators_stay() -> None:
    model = onnx.parser.parse_model(NESTED)
    after, _ = sardonyx.optimize(model)
    assert [f.name for f in after.functions] == ["normal", "block"]
    same(after, model, feed())


def test_on_request() -> None:
    model = onnx.parser.parse_model(NESTED)
    after, _ = sardonyx.optimize(model, inline_functions=True)
    assert not after.functions
    assert [n.op_type for n in after.graph.node] == ["LayerNormalization"] * 2
    same(after, model, feed())


BODIES = """
<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
graph (float[N, 4] x, int64 n) => (float[N, 4] y, float[N, 4] z) {
  y = own.bend<twice = 1>(x, n)
  z = own.bend<twice = 0>(x, n)
}
<domain: "own", opset_import: ["" : 17]>
bend <twice> (a, n) => (b) {
  k = Constant<value_int: int = @twice>()
  t = Cast<to = 9>(k)
  c = If(t) <
    then_branch = then () => (p) { p = Add(a, a) },
    else_branch = otherwise () => (q) { q = Identity(a) }
  >
  on = Constant<value = bool {1}>()
  b = Loop(n, on, c) <
    body = step (int64 i, bool go, float[N, 4] h) => (bool stay, float[N, 4] next) {
      stay = Identity(go)
      f = ReduceSum<keepdims = 1>(a)
      next = Add(h, f)
    }
  >
}
"""


def test_branches_and_loops_in_functions() -> None:
    model = onnx.parser.parse_model(BODIES)
    after, _ = sardonyx.optimize(model, inline_functions=True, opset=22)
    assert not after.functions
    assert "If" not in [n.op_type for n in after.graph.node]
    for count in (0, 3):
        x = np.random.default_rng(0).standard_normal((2, 4), np.float32)
        same(after, model, {"x": x, "n": np.array(count)})


def test_inputs_that_are_left_out() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        graph (float[N] x) => (float[N] y) { y = own.cut(x, , x) }
        <domain: "own", opset_import: ["" : 17]>
        cut (a, low, b) => (c) {
          d = Clip(a, low)
          c = Add(d, b)
        }
    """)
    after, _ = sardonyx.optimize(model, inline_functions=True)
    assert [n.op_type for n in after.graph.node] == ["Add"]


def test_a_function_that_calls_itself() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        graph (float[N] x) => (float[N] y) { y = own.again(x) }
        <domain: "own", opset_import: ["" : 17, "own" : 1]>
        again (a) => (b) { b = own.again(a) }
    """)
    with pytest.raises(sardonyx.ProgramError, match="calls itself"):
        sardonyx.optimize(model, inline_functions=True)
