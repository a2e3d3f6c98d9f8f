"""Resize in ONNX Runtime alone: a test a rule."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from tests.targets import alone


def resized(x: np.ndarray, scale: float, **attributes: str) -> np.ndarray:
    """x with its last axis scaled."""
    scales = [1.0] * (x.ndim - 1) + [scale]
    nodes = [
        helper.make_node("Constant", [], ["scales"], value_floats=scales),
        helper.make_node("Resize", ["x", "", "scales"], ["y"], **attributes),
    ]
    dtype = helper.np_dtype_to_tensor_dtype(x.dtype)
    session = alone.session_of(alone.model_of(nodes, {"x": x}, {"y": dtype}))
    result: np.ndarray = session.run(None, {"x": x})[0]
    return result


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_resize_of_doubles(mode: str) -> None:
    with pytest.raises(Exception, match="NOT_IMPLEMENTED"):
        resized(np.ones((1, 1, 1, 5)), 2, mode=mode)


def test_resize_that_keeps_its_size() -> None:
    x = np.array([[[[0, 1, 4, 9, 16]]]], np.float32)
    assert np.array_equal(resized(x, 1.125, mode="cubic"), x)
    assert not np.array_equal(resized(np.tile(x, (1, 1, 1, 2)), 1.125, mode="cubic")[..., :5], x)


def test_linear_resize_of_one_axis() -> None:
    x = np.array([[[1, 2, 3], [np.inf, 1, 1]]], np.float32)
    first = resized(x, 2, mode="linear")[0, 0]
    assert np.isnan(first).any()  # though the infinity stands in another channel


def test_resize_of_other_axes() -> None:
    """Channels may stand last for linear interpolation alone, and then of four axes."""
    x = np.ones((1, 8, 8, 2), np.float32)

    def of_axes(mode: str, scales: list[float]) -> None:
        nodes = [
            helper.make_node("Constant", [], ["scales"], value_floats=scales),
            helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode),
        ]
        alone.session_of(alone.model_of(nodes, {"x": x}, {"y": 1})).run(None, {"x": x})

    of_axes("cubic", [1, 1, 0.5, 0.5])
    of_axes("linear", [1, 0.5, 0.5, 1])
    for mode, scales in (("cubic", [1, 0.5, 0.5, 1]), ("linear", [1, 0.5, 1, 0.5])):
        with pytest.raises(Exception, match="Resize"):
            of_axes(mode, scales)
