"""What functions of torch do with quantized tensors, by name."""

from __future__ import annotations

from typing import Any

import torch

from . import rounding
from .operators import OPERATORS
from .rules import RULES, Rule, UnsupportedError, called
from .scalars import add_scalar, mul_scalar
from .tensor import Quantized


def _dequantize(q: Any) -> Any:
    if isinstance(q, list | tuple):
        return [_dequantize(each) for each in q]
    return q.dequantized() if isinstance(q, Quantized) else q


def _relu(q: Quantized, inplace: bool = False) -> Quantized:
    above = q.integers.clamp(min=q.affine.zero_point).to(q.integers.dtype)
    return _kept(q, Quantized(above, q.affine), inplace)


def _clamped(q: Quantized, *args: float | None, inplace: bool = False, **named: float) -> Quantized:
    if isinstance(q.affine.scale, torch.Tensor):
        raise UnsupportedError("a tensor whose scale is computed is clamped; dequantize() it first")

    least, most = (*args, None, None)[:2]
    least, most = _in_steps(q, named.get("min", least)), _in_steps(q, named.get("max", most))
    return _kept(q, Quantized(q.integers.clamp(least, most), q.affine), inplace)


def _in_steps(q: Quantized, number: float | None) -> int | None:
    """A number quantized as the elements are."""
    return None if number is None else rounding.number_in_integers(number, q.affine)


def _padded(
    q: Quantized, pad: list[int], mode: str = "constant", value: float | None = None
) -> Quantized:
    if mode != "constant":
        moved: Quantized = q.moved(torch.nn.functional.pad(q.integers, pad, mode))
        return moved
    if q.affine.axis is not None or isinstance(q.affine.scale, torch.Tensor):
        raise UnsupportedError(
            "a tensor is padded that is quantized per channel or whose scale is computed; "
            "dequantize() it first"
        )
    filling = _in_steps(q, value or 0.0)
    return Quantized(torch.nn.functional.pad(q.integers, pad, value=filling), q.affine)


def _leaky_relu(q: Quantized, negative_slope: float = 0.01, inplace: bool = False) -> Quantized:
    # Other than pools, it rounds before it adds the zero point.
    def leaky(steps: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.leaky_relu(steps, negative_slope).round()

    return _kept(q, q.in_steps(leaky), inplace)


def _hardtanh(
    q: Quantized, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Quantized:
    return _clamped(q, min_val, max_val, inplace=inplace)


def _relu6(q: Quantized, inplace: bool = False) -> Quantized:
    return _clamped(q, 0.0, 6.0, inplace=inplace)


def _kept(q: Quantized, result: Quantized, inplace: bool) -> Quantized:
    if not inplace:
        return result
    if q.shared:
        raise UnsupportedError("a quantized tensor that others view a part of is written to")
    q.integers, q.affine = result.integers, result.affine
    return q


def _in_place(rule: Rule) -> Rule:
    return lambda q, *args, **kwargs: rule(q, *args, **kwargs, inplace=True)


def _onto(name: str, least: int, width: int) -> Rule:
    """A function onto [least, least + width], which 256 steps make up whatever its argument's."""

    def onto(q: Quantized) -> Quantized:
        zero_point = torch.iinfo(q.integers.dtype).min + (0 if least == 0 else 128)
        x = called(name, q.dequantized(), (), {})
        return q.requantized(x, scale=width / 256, zero_point=zero_point)

    return onto


def _joined(tensors: list[Quantized], dim: int = 0) -> Quantized:
    first = tensors[0]
    if first.affine.axis is not None:
        raise UnsupportedError("tensors quantized per channel are joined; dequantize() them first")
    if all(q.affine is first.affine for q in tensors):
        return first.copied(torch.cat([q.integers for q in tensors], dim))
    x = torch.cat([q.dequantized() for q in tensors], dim)
    return Quantized(rounding.rounded(x, first.affine), first.affine)


RULES.update(
    {
        "dequantize": _dequantize,
        "int_repr": lambda q: q.integers,
        "q_scale": lambda q: q.affine.scale,
        "q_zero_point": lambda q: q.affine.zero_point,
        "q_per_channel_scales": lambda q: q.affine.scale,
        "q_per_channel_zero_points": lambda q: q.affine.zero_point,
        "q_per_channel_axis": lambda q: q.affine.axis,
        "relu": _relu,
        "relu_": _in_place(_relu),
        "relu6": _relu6,
        "hardtanh": _hardtanh,
        "leaky_relu": _leaky_relu,
        "clamp": _clamped,
        "clamp_": _in_place(_clamped),
        "sigmoid": _onto("sigmoid", 0, 1),
        "hardsigmoid": _onto("hardsigmoid", 0, 1),
        "tanh": _onto("tanh", -1, 2),
        "cat": _joined,
        "pad": _padded,
        "size": lambda q, *args: q.integers.size(*args),
        "dim": lambda q: q.integers.dim(),
        "numel": lambda q: q.integers.numel(),
        "is_floating_point": lambda _: False,
        "is_complex": lambda _: False,
        "cpu": lambda q: q,
        "quantized::add_scalar": add_scalar,
        "quantized::add_scalar_relu": lambda q, number: _relu(add_scalar(q, number)),
        "quantized::mul_scalar": mul_scalar,
        "quantized::mul_scalar_relu": lambda q, number: _relu(mul_scalar(q, number)),
        **OPERATORS,
    }
)
