"""Functions of torch that make quantized tensors of others, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import rounding
from .operators import OPERATORS
from .rounding import Affine
from .tensor import Quantized

Rule = Callable[..., Any]


def _quantize_per_tensor(
    x: Any, scale: Any, zero_point: Any, dtype: torch.dtype
) -> Quantized | list[Quantized]:
    if isinstance(x, list | tuple):
        parts = zip(x, scale.unbind(), zero_point.unbind(), strict=True)
        return [_quantized(part, Affine(s, z, dtype)) for part, s, z in parts]
    return _quantized(x, Affine(scale, zero_point, dtype))


def _quantize_dynamic(x: torch.Tensor, dtype: torch.dtype, reduce_range: bool) -> Quantized:
    return _quantized(x, rounding.parameters_of(x, dtype, reduce_range))


def _quantize_per_channel(
    x: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor,
    axis: int,
    dtype: torch.dtype,
) -> Quantized:
    return _quantized(x, Affine(scales, zero_points, dtype, axis % x.dim()))


def _quantized(x: torch.Tensor, affine: Affine) -> Quantized:
    return Quantized(rounding.rounded(x, affine), affine)


def _of_integers(integers: torch.Tensor, scale: float, zero_point: int) -> Quantized:
    return Quantized(integers, Affine(scale, zero_point, _quantized_type(integers)))


def _of_channels(
    integers: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, axis: int
) -> Quantized:
    affine = Affine(scale, zero_point, _quantized_type(integers), axis % integers.dim())
    return Quantized(integers, affine)


def _quantized_type(integers: torch.Tensor) -> torch.dtype:
    return {torch.uint8: torch.quint8, torch.int8: torch.qint8, torch.int32: torch.qint32}[
        integers.dtype
    ]


MAKERS: dict[str, Rule] = {
    "quantize_per_tensor": _quantize_per_tensor,
    "quantize_per_tensor_dynamic": _quantize_dynamic,
    "quantize_per_channel": _quantize_per_channel,
    "_make_per_tensor_quantized_tensor": _of_integers,
    "_make_per_channel_quantized_tensor": _of_channels,
    **OPERATORS,
}
