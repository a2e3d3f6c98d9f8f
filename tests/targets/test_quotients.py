"""Divisions of integers that ONNX Runtime's optimizer rewrites as if they were exact."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from tests.targets import alone


def test_quotient_of_one() -> None:
    feed = {"x": np.array([3])}
    nodes = [
        helper.make_node("Constant", [], ["one"], value_ints=[1]),
        helper.make_node("Div", ["one", "x"], ["quotient"]),
        helper.make_node("Mul", ["quotient", "x"], ["y"]),
    ]
    model = alone.model_of(nodes, feed, {"y": TensorProto.INT64})
    (y,) = alone.session_of(model).run(None, feed)
    assert y.tolist() == [1]
    assert (np.array([1]) // feed["x"] * feed["x"]).tolist() == [0]
