"""What the tables of OpenVINO and TensorRT make of programs: what OpenVINO gets wrong comes out
right, and what TensorRT is documented to lack is not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch.export import Dim
from torch.nn import functional

from tests.harness.comparison import difference
from tests.harness.exporting import capture, export

from .openvino import Session


class Program(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def exported(target: str, function: Callable[..., Any], *args: torch.Tensor, axis: int = 0) -> Any:
    """With one axis of the first argument, and of its equals, free; any but the first is odd."""
    size = Dim("size", min=2, max=64)
    free = {axis: size if axis == 0 else 2 * size - 1}
    shapes = (tuple(free if x.shape == args[0].shape else None for x in args),)
    return export(capture(Program(function), args, None, shapes), target_runtime=target)


BYTES = torch.tensor([100, -100, 7, 127], dtype=torch.int8)
GREAT = torch.tensor([2**24, 2**24 + 1, 2**31 - 1, -(2**30) - 1])
NEAR = torch.tensor([2**24 + 1, 2**24 + 1, 7, 10])
IMAGE = torch.randn(2, 3, 7, 6, generator=torch.Generator().manual_seed(0))


def scaled(x: torch.Tensor) -> torch.Tensor:
    scales, zeros = torch.tensor([0.02, 0.03, 0.01]), torch.zeros(3, dtype=torch.int64)
    quantized: torch.Tensor = torch.ops.quantized_decomposed.quantize_per_channel(
        x, scales, zeros, 1, -128, 127, torch.int8
    )
    return quantized


CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], int]] = {
    "bytes": (lambda a, b: (a + b, a - b, a * b, -a, a.abs()), (BYTES, BYTES.flip(0)), 0),
    "quotients": (lambda a, b: torch.div(a, b, rounding_mode="trunc"), (BYTES, BYTES.flip(0)), 0),
    "comparisons": (
        lambda a, b: (a == b, a != b, a < b, a <= b, a > b, a >= b),
        (GREAT, NEAR),
        0,
    ),
    "antialias": (
        lambda x: functional.interpolate(x, (4, 3), mode="bilinear", antialias=True),
        (IMAGE,),
        0,
    ),
    "mean of windows": (lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True), (IMAGE,), 0),
    "maximum of windows": (
        lambda x: functional.max_pool2d(x[:, :, 2:], 2, 2, 1, ceil_mode=True),
        (IMAGE,),
        0,
    ),
    "maximum at any size": (
        lambda x: functional.max_pool2d(x, 3, 2, 1, ceil_mode=True),
        (IMAGE,),
        2,
    ),
    "scales": (scaled, (IMAGE,), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_openvino_gets_it_right(name: str) -> None:
    function, args, axis = CASES[name]
    program = exported("openvino", function, *args, axis=axis)
    results = function(*args)
    expected = results if isinstance(results, tuple) else (results,)
    actual = Session(program.model_proto.SerializeToString()).run(args)
    for got, want in zip(actual, expected, strict=True):
        assert difference(got, want) is None


def operators(function: Callable[..., Any], *args: torch.Tensor) -> set[str]:
    program = exported("tensorrt", function, *args)
    return {node.op_type for node in program.model_proto.graph.node}


ROW = torch.ones(2, 3, 8)


def test_tensorrt_has_no_cubic_resize() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return functional.interpolate(x, (4, 3), mode="bicubic")

    assert "Resize" not in operators(function, IMAGE)


def test_tensorrt_has_no_windows_of_one_axis() -> None:
    program = exported("tensorrt", lambda x: functional.max_pool1d(x, 2), ROW)
    (pool,) = (node for node in program.model_proto.graph.node if node.op_type == "MaxPool")
    kernel = next(a for a in pool.attribute if a.name == "kernel_shape")
    assert list(kernel.ints) == [1, 2]


def test_tensorrt_has_no_col2im() -> None:
    assert "Col2Im" not in operators(lambda x: functional.fold(x, (4, 4), 2), torch.ones(2, 4, 9))


def test_tensorrt_has_no_running_sums_of_integers() -> None:
    assert "CumSum" in operators(lambda x: x.cumsum(1), ROW)
    assert "CumSum" not in operators(lambda x: x.cumsum(1), ROW.long())


def test_tensorrt_clips_real_numbers_only() -> None:
    assert "Clip" not in operators(lambda x: x.clamp(1, 5), ROW.long())


def test_tensorrt_has_no_other_quantisation_than_int8_round_zero() -> None:
    def moved(x: torch.Tensor) -> torch.Tensor:
        limits = (0.1, 3, 0, 255, torch.uint8)
        q = torch.ops.quantized_decomposed.quantize_per_tensor(x, *limits)
        y: torch.Tensor = torch.ops.quantized_decomposed.dequantize_per_tensor(q, *limits)
        return y

    assert not {"QuantizeLinear", "DequantizeLinear"} & operators(moved, ROW)
