"""Maxima and means over windows in ONNX Runtime alone: a test a rule."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import sardonyx
from tests.targets import alone


@pytest.mark.parametrize("opset", [13, 17, 20, 23])
def test_maximum_of_padded(opset: int) -> None:
    x = -np.ones((1, 1, 4), np.float32)
    nodes = [
        helper.make_node("Constant", [], ["pads"], value_ints=[0, 0, 1, 0, 0, 1]),
        helper.make_node("Pad", ["x", "pads"], ["padded"]),
        helper.make_node("MaxPool", ["padded"], ["y"], kernel_shape=[2], strides=[2]),
    ]
    model = alone.model_of(nodes, {"x": x}, {"y": TensorProto.FLOAT}, opset)
    (y,) = alone.session_of(model).run(None, {"x": x})
    assert y.tolist() == [[[-1, -1, -1]]]  # the outer ones see a zero


@pytest.mark.parametrize("opset", [13, 17, 20, 23])
def test_mean_of_widely_padded(opset: int) -> None:
    x = np.ones((1, 1, 4), np.float32)
    nodes = [
        helper.make_node("Constant", [], ["pads"], value_ints=[0, 0, 2, 0, 0, 4]),
        helper.make_node("Pad", ["x", "pads"], ["padded"]),
        helper.make_node("AveragePool", ["padded"], ["y"], kernel_shape=[2], strides=[2]),
    ]
    model = alone.model_of(nodes, {"x": x}, {"y": TensorProto.FLOAT}, opset)
    with pytest.raises(Exception, match="smaller than kernel"):
        alone.session_of(model)
    made, _ = sardonyx.optimize(onnx.load_from_string(model))
    (y,) = alone.session_of(made.SerializeToString()).run(None, {"x": x})
    assert y.tolist() == [[[0, 1, 1, 0, 0]]]


def test_mean_pooling_of_doubles() -> None:
    with pytest.raises(Exception, match="NOT_IMPLEMENTED"):
        alone.run("AveragePool", np.ones((1, 1, 4)), kernel_shape=[2])
