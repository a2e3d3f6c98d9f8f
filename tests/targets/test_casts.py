"""Casts of floating numbers of 8 bits: a test a rule."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from tests.targets import alone


def through_float8(x: np.ndarray, to: int, **attributes: int) -> np.ndarray:
    """Cast to float8e5m2, and from that to another type."""
    nodes = [
        helper.make_node("Cast", ["x"], ["small"], to=TensorProto.FLOAT8E5M2, **attributes),
        helper.make_node("Cast", ["small"], ["y"], to=to),
    ]
    session = alone.session_of(alone.model_of(nodes, {"x": x}, {"y": to}))
    return session.run(None, {"x": x})[0]


def test_truth_of_float8() -> None:
    zeros = np.array([-0.0, 0.0], np.float32)
    assert through_float8(zeros, TensorProto.BOOL).tolist() == [True, False]


def test_float8_infinity() -> None:
    large = np.array([61440, 65504, -1e9, np.inf, 57344], np.float32)
    found = through_float8(large, TensorProto.FLOAT, saturate=0)
    assert np.isnan(found[:3]).any()
    assert found[3:].tolist() == [np.inf, 57344]
