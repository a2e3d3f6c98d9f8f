"""torchao's affine quantization under its own names and schemas, in plain PyTorch: torchao is not
needed to judge its translations. Where torchao is installed, its own are judged."""

# The arguments are those of the schemas.
# ruff: noqa: PLR0917

from __future__ import annotations

import importlib.util
from typing import Any

import torch

T = torch.Tensor
_FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)

_SCHEMAS = {
    "quantize_affine": (
        "(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
        "output_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor"
    ),
    "dequantize_affine": (
        "(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
        "input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, ScalarType output_dtype=6) "
        "-> Tensor"
    ),
    "choose_qparams_affine": (
        "(Tensor? input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, Scalar? "
        "quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None, "
        "ScalarType? zero_point_dtype=None, bool keepdim=False) -> (Tensor, Tensor)"
    ),
    "quantize_affine_float8_non_decomposed": (
        "(Tensor tensor, Tensor scale, ScalarType float8_dtype=24) -> Tensor"
    ),
    "dequantize_affine_float8_non_decomposed": (
        "(Tensor tensor, Tensor scale, ScalarType output_dtype=6) -> Tensor"
    ),
    "choose_scale_float8": (
        "(Tensor tensor, SymInt[] block_size, ScalarType float8_dtype=24, ScalarType "
        "scale_dtype=6, float? hp_value_lb=None, float? hp_value_ub=None) -> Tensor"
    ),
}


def _blocked(x: T, block: list[int]) -> tuple[T, list[int]]:
    """x with the elements of each block on axes of their own, and those axes."""
    shape = [part for n, b in zip(x.shape, block, strict=True) for part in (n // b, b)]
    return x.reshape(shape), list(range(1, 2 * x.dim(), 2))


def _spread(parameter: T, x: T, block: list[int]) -> T:
    """Each block's parameter beside each of its elements."""
    blocks = [part for n, b in zip(x.shape, block, strict=True) for part in (n // b, 1)]
    blocked, _ = _blocked(x, block)
    return parameter.reshape(blocks).expand(blocked.shape).reshape(x.shape)


def _bounds(dtype: torch.dtype, least: Any, most: Any) -> tuple[Any, Any]:
    info = torch.finfo(dtype) if dtype in _FLOAT8 else torch.iinfo(dtype)
    return (info.min if least is None else least), (info.max if most is None else most)


def quantize_affine(
    x: T,
    block: list[int],
    scale: T,
    zero: T,
    dtype: torch.dtype,
    least: Any = None,
    most: Any = None,
) -> T:
    least, most = _bounds(dtype, least, most)
    q = torch.round(x * _spread(1.0 / scale, x, block)) + _spread(zero, x, block)
    return q.clamp(least, most).to(dtype)


def dequantize_affine(
    q: T,
    block: list[int],
    scale: T,
    zero: T | None,
    dtype: torch.dtype,
    least: Any = None,
    most: Any = None,
    output_dtype: torch.dtype = torch.float32,
) -> T:
    x = q.to(output_dtype)
    if zero is not None:
        x = x - _spread(zero, q, block).to(output_dtype)
    return (x * _spread(scale, q, block)).to(output_dtype)


def choose_qparams_affine(
    x: T,
    mapping: str,
    block: list[int],
    dtype: torch.dtype,
    least: Any = None,
    most: Any = None,
    eps: float | None = None,
    scale_dtype: torch.dtype | None = None,
    zero_dtype: torch.dtype | None = None,
    keepdim: bool = False,
) -> tuple[T, T]:
    least, most = _bounds(dtype, least, most)
    blocked, inner = _blocked(x, block)
    low, high = blocked.amin(inner).clamp(max=0), blocked.amax(inner).clamp(min=0)
    eps = torch.finfo(x.dtype).smallest_normal if eps is None else eps
    if mapping == "ASYMMETRIC":
        scale = ((high - low) / float(most - least)).clamp(min=eps)
        zero = (least - torch.round(low / scale)).clamp(least, most).to(zero_dtype or torch.int32)
    else:
        even = torch.max(-low, high) / (float(most - least) / 2)
        outer = torch.max(low / float(least), high / float(most))
        scale = even if mapping == "SYMMETRIC" else outer
        zero = torch.full_like(scale, int((most + least + 1) / 2))
        scale = scale.clamp(min=eps)
    shape = _parameter_shape(x, block, keepdim)
    return scale.to(scale_dtype or x.dtype).reshape(shape), zero.to(
        zero_dtype or zero.dtype
    ).reshape(shape)


def _parameter_shape(x: T, block: list[int], keepdim: bool) -> list[int]:
    """Without keepdim torchao drops the axes that lie within one block."""
    counts = [(n // b, b == n) for n, b in zip(x.shape, block, strict=True)]
    return [count for count, whole in counts if keepdim or not whole]


def _spread_float8(scale: T, x: T) -> T:
    for axis in range(scale.dim() if scale.numel() > 1 else 0):
        if scale.shape[axis] not in (1, x.shape[axis]):
            scale = scale.repeat_interleave(x.shape[axis] // scale.shape[axis], axis)
    return scale


def quantize_affine_float8_non_decomposed(
    x: T, scale: T, dtype: torch.dtype = torch.float8_e4m3fn
) -> T:
    most = torch.finfo(dtype).max
    return (x.float() / _spread_float8(scale, x)).clamp(-most, most).to(dtype)


def dequantize_affine_float8_non_decomposed(
    q: T, scale: T, dtype: torch.dtype = torch.float32
) -> T:
    return (q.float() * _spread_float8(scale, q)).to(dtype)


def choose_scale_float8(
    x: T,
    block: list[int],
    dtype: torch.dtype = torch.float8_e4m3fn,
    scale_dtype: torch.dtype = torch.float32,
    low: float | None = None,
    high: float | None = None,
) -> T:
    blocked, inner = _blocked(x, block)
    reach = blocked.abs().amax(inner)
    if low is not None or high is not None:
        reach = reach.clamp(low, high)
    return (reach / torch.finfo(dtype).max).float()


def register() -> None:
    if importlib.util.find_spec("torchao"):
        import torchao.quantization  # noqa: F401

        return
    for name, schema in _SCHEMAS.items():
        torch.library.define(f"torchao::{name}", schema)
        torch.library.impl(f"torchao::{name}", "CompositeExplicitAutograd")(globals()[name])
