"""x = (q - zero_point) * scale, over plain tensors, as PyTorch's CPU kernels round it."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from sardonyx._torch_private import contexts, operators


@dataclass(frozen=True)
class Affine:
    """How the integers of one tensor are to be read."""

    scale: Any  # a number, a 0-d tensor, or [n] along `axis`
    zero_point: Any  # likewise
    dtype: torch.dtype  # quint8, qint8 or qint32
    axis: int | None = None

    @property
    def integers(self) -> torch.dtype:
        """What int_repr() has."""
        return {torch.quint8: torch.uint8, torch.qint8: torch.int8, torch.qint32: torch.int32}[
            self.dtype
        ]

    def at(self, scale: Any, zero_point: Any) -> Affine:
        return replace(self, scale=scale, zero_point=zero_point)


@functools.cache
def adds_before_rounding() -> bool:
    """Whether the installed PyTorch adds the zero point before it rounds, which decides ties.
    Builds differ in it, so its kernel is run: 0.5 becomes 1.5 and 2, or 0 and 1."""
    with contexts.computing():
        half = torch.full((1,), 0.5, device="cpu")
        return bool(torch.quantize_per_tensor(half, 1.0, 1, torch.quint8).int_repr().item() == 2)


def rounded(x: torch.Tensor, affine: Affine) -> torch.Tensor:
    """x in integers, as the installed PyTorch rounds ties."""
    steps = x * _inverse(_against(affine.scale, x, affine))
    if not adds_before_rounding():
        steps = torch.round(steps)
    steps = steps + _against(affine.zero_point, x, affine)
    return requantized(steps, Affine(1.0, 0, affine.dtype))


def requantized(x: torch.Tensor, affine: Affine) -> torch.Tensor:
    """x in integers as kernels that compute in integers leave them: the zero point is added after
    rounding, and a runtime may fuse it with what computed x."""
    return _call("quantize", x, affine)


def from_steps(steps: torch.Tensor, affine: Affine, *, rounds_first: bool = False) -> torch.Tensor:
    """Integers of a tensor that is counted in steps of the scale and inside their range."""
    if rounds_first:
        steps = torch.round(steps)
    return torch.round(steps + affine.zero_point).to(affine.integers)


def resampled(steps: torch.Tensor, affine: Affine) -> torch.Tensor:
    """from_steps() of kernels that round as quantize_per_tensor() does."""
    return from_steps(steps, affine, rounds_first=not adds_before_rounding())


def number_in_integers(number: float, affine: Affine) -> int:
    """A number quantized as the elements of a tensor are."""
    limits = torch.iinfo(affine.integers)
    steps = number / affine.scale
    whole = (
        round(steps + affine.zero_point)
        if adds_before_rounding()
        else round(steps) + affine.zero_point
    )
    return int(max(limits.min, min(limits.max, whole)))


def in_steps(integers: torch.Tensor, affine: Affine) -> torch.Tensor:
    """float32, exact for integers of 8 bits."""
    steps: torch.Tensor = integers.to(torch.float32) - affine.zero_point
    return steps


def dequantized(integers: torch.Tensor, affine: Affine) -> torch.Tensor:
    """What the integers stand for, in float32."""
    return _call("dequantize", integers, affine)


def parameters_of(x: torch.Tensor, dtype: torch.dtype, reduce_range: bool) -> Affine:
    """The scale and zero point that cover x, and 0, as dynamic quantization takes them."""
    affine = Affine(1.0, 0, dtype)
    limits = torch.iinfo(affine.integers)
    least, most = limits.min, limits.max
    if reduce_range:
        least, most = least // 2, most // 2
    scale, zero_point = _decomposed().choose_qparams.tensor(
        x, least, most, _LEAST_SCALE, affine.integers
    )
    return affine.at(scale, zero_point)


_LEAST_SCALE = 1e-12


def _call(verb: str, x: torch.Tensor, affine: Affine) -> torch.Tensor:
    limits = torch.iinfo(affine.integers)
    axis = () if affine.axis is None else (affine.axis,)
    packet = getattr(_decomposed(), f"{verb}_per_channel" if axis else f"{verb}_per_tensor")
    computed = isinstance(affine.scale, torch.Tensor) and not axis
    result: torch.Tensor = (packet.tensor if computed else packet.default)(
        x, affine.scale, affine.zero_point, *axis, limits.min, limits.max, affine.integers
    )
    return result


def _decomposed() -> Any:
    """The namespace of these operators, whose module defines them when it is imported."""
    return operators.quantized_decomposed()


def _inverse(scale: Any) -> Any:
    if isinstance(scale, torch.Tensor):
        return scale.to(torch.float32).reciprocal()
    return float(np.float32(1) / np.float32(scale))


def _against(parameter: Any, x: torch.Tensor, affine: Affine) -> Any:
    if affine.axis is None:
        return parameter
    return parameter.reshape([-1 if i == affine.axis else 1 for i in range(x.dim())])
