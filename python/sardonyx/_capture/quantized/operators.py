"""PyTorch's operators on packed weights and quantized tensors: what they compute, between
dequantizing and quantizing, which runtimes know as one operator on integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from . import rounding
from .tensor import Quantized

if TYPE_CHECKING:
    from .packed import Packed


def _linear(x: torch.Tensor, packed: Packed) -> torch.Tensor:
    return torch.nn.functional.linear(x, packed.values(), packed.bias)


def _convolution(x: torch.Tensor, packed: Packed) -> torch.Tensor:
    weight = packed.values()
    if x.dim() < weight.dim():  # one dimension is packed as two
        weight = weight.squeeze(2)
    spatial = weight.dim() - 2
    stride, padding, dilation, output_padding = (list(each[-spatial:]) for each in packed.geometry)
    result: torch.Tensor = torch.ops.aten.convolution(
        x,
        weight,
        packed.bias,
        stride,
        padding,
        dilation,
        packed.transposed,
        output_padding,
        packed.groups,
    )
    return result


def _same(x: torch.Tensor) -> torch.Tensor:
    return x


def _relu(x: torch.Tensor) -> torch.Tensor:
    return x.relu()


Float = Callable[..., Any]


def _split_off(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """What comes before the scale and zero point of the result, and these two."""
    if "scale" in kwargs:
        return list(args), kwargs
    *rest, scale, zero_point = args
    return rest, {"scale": scale, "zero_point": zero_point}


def _product(compute: Float, after: Float) -> Float:
    """(qx, packed, scale, zero_point); older forms of convolutions repeat its strides between."""

    def operator(q: Quantized, packed: Packed, *args: Any, **kwargs: Any) -> Quantized:
        out = _split_off(args, kwargs)[1]
        return q.requantized(after(compute(q.dequantized(), packed)), **out)

    return operator


def _dynamic(compute: Float, after: Float) -> Float:
    """(x, packed, reduce_range): x is quantized by what it holds."""

    def operator(x: torch.Tensor, packed: Packed, reduce_range: bool = False) -> Any:
        if not isinstance(packed.weight, Quantized):  # float16
            return after(compute(x, packed))
        affine = rounding.parameters_of(x, torch.quint8, reduce_range)
        rounded = rounding.rounded(x, affine)
        return after(compute(rounding.dequantized(rounded, affine), packed))

    return operator


def _float(function: str, after: Float = _same) -> Float:
    """(qx, ..., scale, zero_point), with a function of torch.nn.functional or torch between."""

    def operator(q: Quantized, *args: Any, **kwargs: Any) -> Quantized:
        compute = getattr(torch.nn.functional, function, None) or getattr(torch, function)
        rest, out = _split_off(args, kwargs)
        plain = [each.dequantized() if isinstance(each, Quantized) else each for each in rest]
        return q.requantized(after(compute(q.dequantized(), *plain)), **out)

    return operator


def _joined(after: Float) -> Float:
    def operator(
        tensors: list[Quantized], dim: int, scale: float | None, zero_point: int | None
    ) -> Quantized:
        x = after(torch.cat([q.dequantized() for q in tensors], dim))
        return tensors[0].requantized(x, scale=scale, zero_point=zero_point)

    return operator


def _batch_norm(after: Float) -> Float:
    """(qx, weight, bias, mean, var, eps, scale, zero_point)."""

    def operator(q: Quantized, *args: Any) -> Quantized:
        (weight, bias, mean, var, eps), out = _split_off(args, {})
        x = torch.nn.functional.batch_norm(q.dequantized(), mean, var, weight, bias, eps=eps)
        return q.requantized(after(x), **out)

    return operator


def _elu(q: Quantized, scale: float, zero_point: int, *rest: Any) -> Quantized:
    x = torch.ops.aten.elu(q.dequantized(), *rest)
    return q.requantized(x, scale=scale, zero_point=zero_point)


def _instance_norm(q: Quantized, *args: Any) -> Quantized:
    """(qx, weight, bias, eps, scale, zero_point)."""
    (weight, bias, eps), out = _split_off(args, {})
    x = torch.nn.functional.instance_norm(q.dequantized(), weight=weight, bias=bias, eps=eps)
    return q.requantized(x, **out)


def _embedding(packed: Packed, indices: torch.Tensor, *_pruned: Any) -> torch.Tensor:
    return torch.nn.functional.embedding(indices, packed.values())


def _rows() -> dict[str, Float]:
    rows: dict[str, Float] = {}
    for suffix, after in (("", _same), ("_relu", _relu)):
        rows[f"linear{suffix}"] = _product(_linear, after)
        rows[f"linear{suffix}_dynamic"] = _dynamic(_linear, after)
        rows[f"linear{suffix}_dynamic_fp16"] = _dynamic(_linear, after)
        for spatial in ("1d", "2d", "3d"):
            rows[f"conv{spatial}{suffix}"] = _product(_convolution, after)
        rows[f"add{suffix}"] = _float("add", after)
        rows[f"mul{suffix}"] = _float("mul", after)
        rows[f"cat{suffix}"] = _joined(after)
        for spatial in ("", "1d", "2d", "3d"):
            rows[f"batch_norm{spatial}{suffix}"] = _batch_norm(after)
    for spatial in ("1d", "2d", "3d"):
        rows[f"conv{spatial}_dynamic"] = _dynamic(_convolution, _same)
        rows[f"conv_transpose{spatial}"] = _product(_convolution, _same)
        rows[f"conv_transpose{spatial}_dynamic"] = _dynamic(_convolution, _same)
    for name in ("hardswish", "leaky_relu", "sigmoid", "softmax", "matmul", "layer_norm",
                 "group_norm", "prelu"):  # fmt: skip
        rows[name] = _float(name)
    rows |= {"elu": _elu, "instance_norm": _instance_norm, "embedding_byte": _embedding}
    return {f"quantized::{name}": row for name, row in rows.items()}


OPERATORS: dict[str, Float] = _rows()
