"""Calls of `int(…)` and `float(…)` that give sizes where they are given sizes.

Python's `int(length * 1.5)` is an integer of Python's own, whatever the number says that it is
called for, so that a captured program has the example's there. Within `whole_sizes()`, the code of
the model's own classes and functions calls another function for it, which gives a size.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .other_calls import calling_others, functions_of


@contextmanager
def whole_sizes(model: torch.nn.Module, codes: Iterable[types.CodeType] = ()) -> Iterator[None]:
    """Within it, sizes and what is computed of them stay sizes in `int(…)`, in the code of the
    model's modules and in the functions with these codes."""
    functions = functions_of(model)
    known = {each.__code__ for each in functions}
    others = _functions_with({each for each in codes if each not in known and _may_call(each)})
    with calling_others([*functions, *others], {"int": _int, "float": _float}):
        yield


def _may_call(code: types.CodeType) -> bool:
    """Whether it, or a function within it, has a name that is called otherwise."""
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return not {"int", "float"}.isdisjoint(code.co_names) or any(map(_may_call, inner))


def _functions_with(codes: Collection[types.CodeType]) -> list[types.FunctionType]:
    """The functions with these code objects: a frame has its code, and not its function. All
    objects of the process are looked through."""
    if not codes:
        return []
    found = gc.get_referrers(*codes)
    return [
        each for each in found if isinstance(each, types.FunctionType) and each.__code__ in codes
    ]


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


@contextmanager
def sizes_are_ints(model: torch.nn.Module) -> Iterator[None]:
    """Within it, `isinstance(x.shape[0], int)` is true in the code of the model's modules, as it is
    in eager PyTorch: a symbolic size is no `int`."""
    functions = [each for each in functions_of(model) if _may_ask_for_ints(each.__code__)]
    if not functions:
        yield
        return
    with calling_others(functions, {"isinstance": _is_instance}):
        yield


_NUMBERS = frozenset({"int", "float", "Number", "Real", "Integral"})


def _may_ask_for_ints(code: types.CodeType) -> bool:
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    is_asking = "isinstance" in code.co_names and not _NUMBERS.isdisjoint(code.co_names)
    return is_asking or any(map(_may_ask_for_ints, inner))


def _is_instance(value: Any, kinds: Any) -> bool:
    """Python's `isinstance`, but for sizes, which are numbers of Python's too."""
    if isinstance(value, kinds):
        return True
    number = {torch.SymInt: int, torch.SymFloat: float}.get(type(value))
    return number is not None and issubclass(number, kinds)
