"""How sure PyTorch is of its own answer: where two scores are nearly equal, rounding decides which
of them comes first, and everything behind it is another."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable
from typing import TypeVar

import torch

from .example import Tensors

T = TypeVar("T")


def of_pytorch(
    model: torch.nn.Module, inputs: Tensors, run: Callable[[torch.nn.Module, Tensors], T]
) -> list[T]:
    """What `run` makes of the model and the inputs in float64, and in float32 by PyTorch's plain
    kernels; what the model's code does not go with is left out."""
    found = []
    for attempt in (_in_float64, _by_plain_kernels):
        with contextlib.suppress(Exception):
            found.append(attempt(model, inputs, run))
    return found


def _in_float64(
    model: torch.nn.Module, inputs: Tensors, run: Callable[[torch.nn.Module, Tensors], T]
) -> T:
    wide = {k: v.double() if v.is_floating_point() else v for k, v in inputs.items()}
    former = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return run(copy.deepcopy(model).double(), wide)
    finally:
        torch.set_default_dtype(former)


def _by_plain_kernels(
    model: torch.nn.Module, inputs: Tensors, run: Callable[[torch.nn.Module, Tensors], T]
) -> T:
    former = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.set_flags(False)
    try:
        return run(model, inputs)
    finally:
        torch.backends.mkldnn.set_flags(former)


def as_sure(got: torch.Tensor, wanted: torch.Tensor, others: Iterable[torch.Tensor]) -> bool:
    """Whether `got` is about as far from PyTorch's answer as that is from PyTorch's others: no more
    than twice as far, since each of them is one sample of what rounding does."""
    shapes = {got.shape, wanted.shape}
    alike = [other for other in others if shapes == {other.shape}]
    if not alike or not got.numel():
        return False
    own = max(float((wanted.double() - other.double()).abs().max()) for other in alike)
    return float((got.double() - wanted.double()).abs().max()) <= 2 * own
