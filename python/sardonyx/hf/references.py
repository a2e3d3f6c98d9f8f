"""How sure PyTorch is of its own answer: where two scores are nearly equal, rounding decides which
of them comes first, and everything behind it is another."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch
from torch.overrides import TorchFunctionMode

from .example import Tensors

T = TypeVar("T")


def of_pytorch(
    model: torch.nn.Module, inputs: Tensors, run: Callable[[torch.nn.Module, Tensors], T]
) -> list[T]:
    """What `run` makes of the model and the inputs in float64, in float32 by PyTorch's plain
    kernels, and where the later of equal scores is taken for the higher; what the model's code does
    not go with is left out."""
    found = []
    for attempt in (_in_float64, _by_plain_kernels, _with_ties_turned):
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


class _TiesTurned(TorchFunctionMode):
    """Which of equal elements are the highest PyTorch leaves open: the last ones are, here. Scores
    behind a ReLU, of which the highest are looked at (sparse attention), are often equal."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """The call, of elements in reverse where it is one for the highest."""
        kwargs = kwargs or {}
        if function not in (torch.topk, torch.Tensor.topk):
            return function(*args, **kwargs)
        given = dict(zip(("input", "k", "dim", "largest", "sorted"), args, strict=False)) | kwargs
        values: torch.Tensor = given.pop("input")
        axis = given.get("dim", -1)
        highest, places = torch.topk(values.flip(axis), **given)
        return torch.return_types.topk((highest, values.shape[axis] - 1 - places))


def _with_ties_turned(
    model: torch.nn.Module, inputs: Tensors, run: Callable[[torch.nn.Module, Tensors], T]
) -> T:
    with _TiesTurned():
        return run(model, inputs)


def as_sure(got: torch.Tensor, wanted: torch.Tensor, others: Iterable[torch.Tensor]) -> bool:
    """Whether `got` is about as far from PyTorch's answer as that is from PyTorch's others: no more
    than twice as far, since each of them is one sample of what rounding does."""
    shapes = {got.shape, wanted.shape}
    alike = [other for other in others if shapes == {other.shape}]
    if not alike or not got.numel():
        return False
    own = max(float((wanted.double() - other.double()).abs().max()) for other in alike)
    return float((got.double() - wanted.double()).abs().max()) <= 2 * own
