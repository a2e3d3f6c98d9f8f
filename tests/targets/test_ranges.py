"""Ranges that ONNX Runtime's optimizer mistakes for slices: one test for each rule."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.targets import alone


@pytest.mark.parametrize(
    ("start", "limit", "delta"), [(-2, 1, 1), (4, -1, -1)], ids=["from below zero", "downwards"]
)
def test_range_from_below_zero(start: int, limit: int, delta: int) -> None:
    feed = {
        "x": np.arange(5, dtype=np.float32),
        "start": np.array(start),
        "limit": np.array(limit),
    }
    nodes = [
        helper.make_node("Constant", [], ["delta"], value_int=delta),
        helper.make_node("Range", ["start", "limit", "delta"], ["places"]),
        helper.make_node("Gather", ["x", "places"], ["y"]),
    ]
    model = alone.model_of(nodes, feed, {"y": TensorProto.FLOAT})
    (y,) = alone.session_of(model).run(None, feed)
    assert y.tolist() == []
    assert feed["x"][np.arange(start, limit, delta)].size > 0
