"""Operators in OpenVINO alone: a test a rule."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from .alone import model_of
from .openvino import Session, run

BYTES = [np.int8, np.uint8]
GREAT = 1 << 24  # from here on float32 has not every integer
IMAGE = np.random.default_rng(0).standard_normal((1, 1, 6, 6)).astype(np.float32)


@pytest.mark.parametrize("dtype", BYTES)
def test_sum_of_bytes(dtype: type) -> None:
    most: np.ndarray = np.array([np.iinfo(dtype).max], dtype)
    assert run("Add", most, most)[0] == most[0] != (most + most)[0]


@pytest.mark.parametrize("dtype", BYTES)
def test_difference_of_bytes(dtype: type) -> None:
    least: np.ndarray = np.array([np.iinfo(dtype).min], dtype)
    one: np.ndarray = np.ones(1, dtype)
    assert run("Sub", least, one)[0] == least[0] != (least - one)[0]


@pytest.mark.parametrize("dtype", BYTES)
def test_product_of_bytes(dtype: type) -> None:
    x: np.ndarray = np.array([20], dtype)
    assert run("Mul", x, x)[0] == np.iinfo(dtype).max != (x * x)[0]


def test_negative_of_bytes() -> None:
    assert run("Neg", np.array([-128], np.int8)).tolist() == [127]


def test_absolute_of_bytes() -> None:
    assert run("Abs", np.array([-128], np.int8)).tolist() == [127]


@pytest.mark.parametrize("dtype", BYTES)
def test_quotient_of_bytes(dtype: type) -> None:
    assert run("Div", np.array([7], dtype), np.array([2], dtype)).tolist() == [4]


def compared(op: str, a: int, b: int) -> bool:
    result = run(op, np.array([a], np.int32), np.array([b], np.int32), dtype=TensorProto.BOOL)
    return bool(result[0])


def test_equal_great_integers() -> None:
    assert compared("Equal", GREAT, GREAT + 1)


def test_less_of_great_integers() -> None:
    assert not compared("Less", GREAT, GREAT + 1)


def test_greater_of_great_integers() -> None:
    assert not compared("Greater", GREAT + 1, GREAT)


def test_less_or_equal_of_great_integers() -> None:
    assert compared("LessOrEqual", GREAT + 1, GREAT)


def test_greater_or_equal_of_great_integers() -> None:
    assert compared("GreaterOrEqual", GREAT, GREAT + 1)


def test_resize_with_a_filter() -> None:
    """Every other row is left out, as without a filter."""
    sizes = helper.make_node("Constant", [], ["sizes"], value_ints=[1, 1, 2, 2])
    nodes = [
        helper.make_node("Resize", ["x", "", "", "sizes"], [name], mode="linear", antialias=smooth)
        for name, smooth in (("y", 1), ("z", 0))
    ]
    outputs = {"y": TensorProto.FLOAT, "z": TensorProto.FLOAT}
    y, z = Session(model_of([sizes, *nodes], {"x": IMAGE}, outputs)).run_arrays([IMAGE])
    assert np.allclose(y, z)


def test_grid_sample_of_a_volume() -> None:
    with pytest.raises(Exception, match="only supported for 4D"):
        run("GridSample", IMAGE[:, :, None], np.zeros((1, 1, 1, 1, 3), np.float32))


def test_mean_of_windows_beyond_the_padding() -> None:
    x = np.ones((1, 1, 6), np.float32)
    y = run(
        "AveragePool",
        x,
        kernel_shape=[3],
        strides=[2],
        pads=[1, 1],
        ceil_mode=1,
        count_include_pad=1,
    )
    assert y[0, 0, -1] == pytest.approx(1 / 3)  # of two elements, of which one is padding


def test_window_that_begins_in_the_padding() -> None:
    x = np.ones((1, 1, 5), np.float32)
    y = run("MaxPool", x, kernel_shape=[2], strides=[2], pads=[1, 1], ceil_mode=1)
    assert y.shape == (1, 1, 4)


def test_range_the_other_way() -> None:
    five, one = np.array(5), np.array(1)
    assert run("Range", five, one, one).size > 0


def test_split_into_uneven_parts() -> None:
    x = np.ones((2, 5), np.float32)
    node = helper.make_node("Split", ["x"], ["y", "z"], axis=1, num_outputs=2)
    outputs = {"y": TensorProto.FLOAT, "z": TensorProto.FLOAT}
    y, z = Session(model_of([node], {"x": x}, outputs)).run_arrays([x])
    assert y.size == z.size == 0


def test_half_of_a_spectrum() -> None:
    x = np.ones((1, 8, 1), np.float32)
    nodes = [
        helper.make_node("Constant", [], ["axis"], value_int=1),
        helper.make_node("DFT", ["x", "", "axis"], ["y"], onesided=1),
    ]
    (y,) = Session(model_of(nodes, {"x": x}, {"y": TensorProto.FLOAT})).run_arrays([x])
    assert y.shape == (1, 5, 1, 2)


def test_scales_along_an_axis() -> None:
    x = IMAGE[0, 0]
    scales = np.linspace(0.1, 0.6, 6, dtype=np.float32)
    zeros = np.zeros(6, np.int8)
    nodes = [
        helper.make_node("Constant", [], ["s"], value=helper.make_tensor("s", 1, [6], scales)),
        helper.make_node("Constant", [], ["z"], value=helper.make_tensor("z", 3, [6], zeros)),
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"], axis=0),
    ]
    (y,) = Session(model_of(nodes, {"x": x}, {"y": TensorProto.INT8})).run_arrays([x])
    assert not np.array_equal(y, np.rint(x / scales[:, None]).astype(np.int8))
