"""Quantized tensors and a number: mostly the scale or zero point changes, not the integers."""

from __future__ import annotations

import torch

from . import rounding
from .rounding import Affine
from .rules import UnsupportedError
from .tensor import Quantized


def add_scalar(q: Quantized, number: float) -> Quantized:
    """q + number, a whole count of steps. A zero point that would leave the integers' range stops
    at its end, and the steps widen."""
    affine = _of_numbers(q)
    limits = torch.iinfo(affine.integers)
    steps = round(number / affine.scale)
    zero_point = affine.zero_point - steps
    if limits.min <= zero_point <= limits.max:
        return Quantized(q.integers, affine.at(affine.scale, zero_point))
    reach = limits.max - zero_point if zero_point < limits.min else zero_point - limits.min
    scale = reach / (limits.max - limits.min) * affine.scale
    wide = affine.at(scale, max(limits.min, min(limits.max, zero_point)))
    return Quantized(rounding.rounded(q.dequantized() + steps * affine.scale, wide), wide)


def mul_scalar(q: Quantized, number: float) -> Quantized:
    """q * number: by a negative one the integers are mirrored."""
    affine = _of_numbers(q)
    if number == 0:
        return Quantized(torch.zeros_like(q.integers), affine.at(1.0, 0))
    if number > 0:
        return Quantized(q.integers, affine.at(affine.scale * number, affine.zero_point))
    limits = torch.iinfo(affine.integers)
    ends = limits.max + limits.min
    mirrored = (ends - q.integers.to(torch.int32)).to(affine.integers)
    return Quantized(mirrored, affine.at(affine.scale * -number, ends - affine.zero_point))


def _of_numbers(q: Quantized) -> Affine:
    if isinstance(q.affine.scale, torch.Tensor):
        raise UnsupportedError(
            "a number is added to, or multiplied with, a tensor that is quantized per channel or "
            "whose scale is computed; dequantize() it first"
        )
    return q.affine
