"""Sizes that Python takes for numbers while torch.jit.trace runs a model, of which it says nothing:
`range(x.shape[0])`, `[x] * x.shape[0]`, `names[x.shape[0]]`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from sardonyx._capture.guards.specializations import Specializations
from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._capture.source_location import user_place
from sardonyx._torch_private import torchscript

from .no_trace import unrecorded

# The bounds of a tensor's own slices are kept, though their index is asked for.
_SLICING = (torch.Tensor.__getitem__, torch.Tensor.__setitem__)


class _KeepingBounds(TorchFunctionMode):
    """Notices when a tensor is sliced. Methods in place of `__getitem__` would stay felt when they
    are gone: Python takes tensors for sequences from then on, and torch.tensor([tensor(3)]) asks
    each for its length."""

    def __init__(self, specializations: Specializations) -> None:
        super().__init__()
        self._specializations = specializations

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if function not in _SLICING:
            return function(*args, **(kwargs or {}))
        with self._specializations.keeping_integers():
            if function is torch.Tensor.__setitem__ and _is_traced(args[-1]):
                return _written(*args)
            return function(*args, **(kwargs or {}))


def _is_traced(value: Any) -> bool:
    traced = torchscript.is_tracing()
    return traced and isinstance(value, torch.Tensor) and value.dim() > 0


def _written(tensor: torch.Tensor, index: Any, value: torch.Tensor) -> None:
    """`tensor[index] = value`, which tracing records with the example's sizes where the value is
    repeated, or where its first dimensions are 1, which count for nothing."""
    parts = index if isinstance(index, tuple) else (index,)
    if all(p is None or p is ... or type(p) in (int, slice) for p in parts):
        view = tensor[index]
        view.copy_(_without_ones(value, value.dim() - view.dim()))
    else:
        tensor[index] = _without_ones(value, value.dim())


def _without_ones(value: torch.Tensor, most: int) -> torch.Tensor:
    with unrecorded():
        sizes = tuple(value.shape)[: max(most, 0)]
    for _ in itertools.takewhile(lambda size: size == 1, sizes):
        value = value[0]
    return value


@contextmanager
def telling_of_indices(specializations: Specializations) -> Iterator[None]:
    """Within it, `specializations` gets the lines of the model that ask a traced tensor for its
    index."""
    kind: Any = torch.Tensor
    index = kind.__index__

    def noted(tensor: torch.Tensor) -> int:
        if (
            not specializations.keeping
            and torchscript.is_tracing()
            and (place := user_place()) is not None
        ):
            specializations.python.append(place)
        number: int = index(tensor)
        return number

    with replaced([Replacement(kind, "__index__", noted)]), _KeepingBounds(specializations):
        yield
