"""How sure PyTorch is of its own answer: where two scores are nearly equal, rounding decides which
of them comes first, and everything behind it is another."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch
from torch.overrides import TorchFunctionMode

from sardonyx.hf.base.example import Tensors

T = TypeVar("T")
# Of the last place: sums of a layer in another order are off by as many.
_UNITS = (1, 1, 2, 2, 4, 4, 8, 8)


def of_pytorch(
    model: torch.nn.Module, inputs: Tensors, run: Callable[[torch.nn.Module, Tensors], T]
) -> list[T]:
    """What `run` makes of the model and the inputs in float64, in float32 by PyTorch's plain
    kernels, where ties of scores are broken by the later or the earlier index, and for inputs
    that are off by a few units in their last place; what the model's code does not go with is left
    out."""
    nudged: list[Any] = [
        functools.partial(_nudged, units=units, seed=seed) for seed, units in enumerate(_UNITS)
    ]
    ties = [functools.partial(_with_ties_broken, last_first=last) for last in (True, False)]
    found = []
    for attempt in (_in_float64, _by_plain_kernels, *ties, *nudged):
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


def _nudged(
    model: torch.nn.Module,
    inputs: Tensors,
    run: Callable[[torch.nn.Module, Tensors], T],
    units: int,
    seed: int,
) -> T:
    generator = torch.Generator().manual_seed(seed)

    def nudge(value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point():
            return value
        signs = torch.randint(0, 2, value.shape, generator=generator) * 2 - 1
        return value * (1 + units * signs * torch.finfo(value.dtype).eps).to(value.dtype)

    return run(model, {name: nudge(value) for name, value in inputs.items()})


def _by_plain_kernels(
    model: torch.nn.Module, inputs: Tensors, run: Callable[[torch.nn.Module, Tensors], T]
) -> T:
    former = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.set_flags(False)
    try:
        return run(model, inputs)
    finally:
        torch.backends.mkldnn.set_flags(former)


_HIGHEST = (torch.topk, torch.Tensor.topk)
_ORDERS = (torch.argsort, torch.Tensor.argsort)


class _TiesBroken(TorchFunctionMode):
    """Breaks ties by the order of elements: of equal ones, the last or the first ones come first.

    PyTorch does not specify which of equal elements topk and argsort take first; ONNX takes the
    first ones. Ties are common among scores after a ReLU, from which sparse attention takes the
    highest.
    """

    def __init__(self, *, last_first: bool) -> None:
        super().__init__()
        self._last_first = last_first

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """The call, by a stable order where it is one for the highest."""
        kwargs = kwargs or {}
        if function in _HIGHEST:
            names: tuple[str, ...] = ("input", "k", "dim", "largest", "sorted")
        elif function in _ORDERS and not kwargs.get("stable"):
            names = ("input", "dim", "descending")
        else:
            return function(*args, **kwargs)
        given = dict(zip(names, args, strict=False)) | kwargs
        values, axis = given["input"], given.get("dim", -1)
        is_topk = function in _HIGHEST
        descending = given.get("largest", True) if is_topk else given.get("descending", False)
        places = self._order(values, axis, descending)
        if not is_topk:
            return places
        places = places.narrow(axis, 0, given["k"])
        return torch.return_types.topk((values.gather(axis, places), places))

    def _order(self, values: torch.Tensor, axis: int, descending: bool) -> torch.Tensor:
        if not self._last_first:
            return torch.argsort(values, dim=axis, descending=descending, stable=True)
        turned = values.flip(axis)
        order = torch.argsort(turned, dim=axis, descending=descending, stable=True)
        return values.shape[axis] - 1 - order


def _with_ties_broken(
    model: torch.nn.Module,
    inputs: Tensors,
    run: Callable[[torch.nn.Module, Tensors], T],
    *,
    last_first: bool,
) -> T:
    with _TiesBroken(last_first=last_first):
        return run(model, inputs)


def as_sure(got: torch.Tensor, wanted: torch.Tensor, others: Iterable[torch.Tensor]) -> bool:
    """Whether `got` is about as far from PyTorch's answer as that is from PyTorch's others: no more
    than twice as far, since each of them is one sample of what rounding does."""
    if got.shape != wanted.shape and got.dim() == wanted.dim():
        # How long a sound is may be drawn at random, too.
        return any(other.shape not in (got.shape, wanted.shape) for other in others)
    shapes = {got.shape, wanted.shape}
    alike = [other for other in others if shapes == {other.shape}]
    if not alike or not got.numel():
        return False
    return farthest(got, wanted) <= 2 * max(farthest(wanted, other) for other in alike)


def farthest(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference of two tensors of one shape; infinities that are equal have none."""
    differences = (a.double() - b.double()).abs()
    return float(differences.masked_fill(a == b, 0).max())
