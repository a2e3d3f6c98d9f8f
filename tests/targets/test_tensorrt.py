"""What TensorRT is documented not to take is not in models for it: a test a rule. TensorRT itself
is not run, which takes a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch.nn import functional

from .programs import exported

IMAGE = torch.ones(2, 3, 8, 6)
ROW = torch.ones(2, 3, 8)


def nodes(function: Callable[..., Any], *args: torch.Tensor) -> dict[str, Any]:
    """Of the model, by operator."""
    graph = exported("tensorrt", function, *args).model_proto.graph
    return {node.op_type: node for node in graph.node}


def ints(node: Any, name: str) -> list[int]:
    return next(list(a.ints) for a in node.attribute if a.name == name)


@pytest.mark.parametrize("options", [{"mode": "bicubic"}, {"mode": "bilinear", "antialias": True}])
def test_resize_by_cubes_or_filters(options: dict[str, Any]) -> None:
    assert "Resize" not in nodes(lambda x: functional.interpolate(x, (4, 3), **options), IMAGE)
    assert "Resize" in nodes(lambda x: functional.interpolate(x, (4, 3), mode="bilinear"), IMAGE)


def test_sample_of_a_volume() -> None:
    def function(x: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
        return functional.grid_sample(x, grid, align_corners=False)

    assert "GridSample" not in nodes(function, torch.ones(2, 3, 4, 5, 6), torch.ones(2, 1, 1, 1, 3))
    assert "GridSample" in nodes(function, IMAGE, torch.ones(2, 1, 1, 2))


def test_image_of_patches() -> None:
    assert "Col2Im" not in nodes(lambda x: functional.fold(x, (4, 4), 2), torch.ones(2, 4, 9))


def test_mean_of_a_row() -> None:
    pool = nodes(lambda x: functional.avg_pool1d(x, 2, 3, 1), ROW)["AveragePool"]
    assert ints(pool, "kernel_shape") == [1, 2]
    assert ints(pool, "pads") == [0, 1, 0, 1]


def test_maximum_of_a_row() -> None:
    pool = nodes(lambda x: functional.max_pool1d(x, 2, 3, 1), ROW)["MaxPool"]
    assert ints(pool, "kernel_shape") == [1, 2]
    assert ints(pool, "strides") == [1, 3]


def test_statistics_of_a_layer() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return torch.native_layer_norm(x, [8], None, None, 1e-5)

    norm = nodes(function, ROW).get("LayerNormalization")
    assert norm is None or len(norm.output) == 1


def test_clip_of_integers() -> None:
    assert "Clip" not in nodes(lambda x: x.clamp(1, 5), ROW.long())


def test_places_of_integers() -> None:
    cast = nodes(lambda x: x.nonzero(), ROW.long())["Cast"]
    assert next(a.i for a in cast.attribute if a.name == "to") == 1


def test_running_sums_of_integers() -> None:
    assert "CumSum" not in nodes(lambda x: x.cumsum(1), ROW.long())
    assert "CumSum" in nodes(lambda x: x.cumsum(1), ROW)


def quantized(x: torch.Tensor, *limits: Any) -> torch.Tensor:
    q = torch.ops.quantized_decomposed.quantize_per_tensor(x, *limits)
    y: torch.Tensor = torch.ops.quantized_decomposed.dequantize_per_tensor(q, *limits)
    return y


SIGNED = (0.1, 0, -128, 127, torch.int8)
OTHERWISE = [(0.1, 3, -128, 127, torch.int8), (0.1, 0, 0, 255, torch.uint8)]


@pytest.mark.parametrize("limits", OTHERWISE)
def test_quantization_parameters(limits: tuple[Any, ...]) -> None:
    assert "QuantizeLinear" not in nodes(lambda x: quantized(x, *limits), ROW)
    assert "QuantizeLinear" in nodes(lambda x: quantized(x, *SIGNED), ROW)


@pytest.mark.parametrize("limits", OTHERWISE)
def test_dequantization_parameters(limits: tuple[Any, ...]) -> None:
    assert "DequantizeLinear" not in nodes(lambda x: quantized(x, *limits), ROW)
    assert "DequantizeLinear" in nodes(lambda x: quantized(x, *SIGNED), ROW)
