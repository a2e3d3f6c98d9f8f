"""Calls of `int(…)` and `float(…)` that give sizes where they are given sizes.

Python's `int(length * 1.5)` is an integer of Python's own, whatever the number says that it is
called for, so that a captured program has the example's there. Within `whole_sizes()`, the code of
the model's own classes and functions calls another function for it, which gives a size.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from .other_calls import calling_others, functions_of


@contextmanager
def whole_sizes(
    model: torch.nn.Module, others: Sequence[types.FunctionType] = ()
) -> Iterator[None]:
    """Within it, sizes and what is computed of them stay sizes in `int(…)`, in the code of the
    model's modules and of `others`."""
    functions = {id(each): each for each in (*functions_of(model), *others)}
    with calling_others(functions.values(), {"int": _int, "float": _float}):
        yield


def _int(*args: Any, **kwargs: Any) -> Any:
    """Python's `int`, but for sizes."""
    if len(args) == 1 and not kwargs and isinstance(args[0], (torch.SymInt, torch.SymFloat)):
        return torch.sym_int(args[0])
    return int(*args, **kwargs)


def _float(*args: Any) -> Any:
    """Python's `float`, but for sizes."""
    if len(args) == 1 and isinstance(args[0], (torch.SymInt, torch.SymFloat)):
        return torch.sym_float(args[0])
    return float(*args)
