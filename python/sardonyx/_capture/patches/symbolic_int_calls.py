"""Calls of `int(…)` and `float(…)` that give sizes where they are given sizes.

Python's `int(length * 1.5)` is an integer of Python's own, whatever the number says that it is
called for, so that a captured program has the example's there. Within `whole_sizes()`, the code of
the model's own classes and functions calls another function for it, which gives a size. Only calls
are others: `isinstance(x, int)` and `dtype=int` mean what they did.
"""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

# The instruction says whether what it loads is called since Python 3.11.
_SAYS_CALLS = sys.version_info >= (3, 11)
_LOADS = "LOAD_GLOBAL"
_MAX = 255  # of what an instruction holds by itself


@contextmanager
def whole_sizes(
    model: torch.nn.Module, others: Sequence[types.FunctionType] = ()
) -> Iterator[None]:
    """Within it, sizes and what is computed of them stay sizes in `int(…)`, in the code of the
    model's modules and of `others`."""
    changed: list[tuple[types.FunctionType, types.CodeType]] = []
    holders: list[dict[str, Any]] = []
    try:
        functions = _functions_of(model)
        known = set(map(id, functions))
        for function in (*functions, *(f for f in others if _SAYS_CALLS and id(f) not in known)):
            code = _with_other_calls(function.__code__)
            if code is function.__code__:
                continue
            changed.append((function, function.__code__))
            if not _OTHERS.keys() & function.__globals__.keys():
                holders.append(function.__globals__)
                function.__globals__.update(_OTHERS)
            function.__code__ = code
        yield
    finally:
        for function, code in changed:
            function.__code__ = code
        for names in holders:
            for name in _OTHERS:
                del names[name]


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


_NAMES = {"int": "__sardonyx_int__", "float": "__sardonyx_float__"}
_OTHERS = {"__sardonyx_int__": _int, "__sardonyx_float__": _float}


def _functions_of(model: torch.nn.Module) -> list[types.FunctionType]:
    """Those of the Python modules that the model's classes stand in, but for PyTorch's own, and
    what these have from others of their package."""
    if not _SAYS_CALLS:
        return []
    names = {type(each).__module__ for each in model.modules()}
    names = {name for name in names if name.partition(".")[0] not in ("torch", "sardonyx")}
    found: dict[int, types.FunctionType] = {}
    for module in filter(None, map(sys.modules.get, names)):
        for value in list(vars(module).values()):
            if not _is_own(value, module):
                continue
            for each in vars(value).values() if isinstance(value, type) else (value,):
                for function in _unwrapped(each):
                    found[id(function)] = function
    return list(found.values())


def _is_own(value: Any, module: types.ModuleType) -> bool:
    """Whether the module says what it is, or, of a function, another of its package."""
    owner = getattr(value, "__module__", None) or ""
    if isinstance(value, types.FunctionType):
        return owner.partition(".")[0] == module.__name__.partition(".")[0]
    return bool(owner == module.__name__)


def _unwrapped(value: Any) -> Iterator[types.FunctionType]:
    """The function, and those that decorators have put it into."""
    value = getattr(value, "__func__", value)
    while value is not None:
        if isinstance(value, types.FunctionType):
            yield value
        value = getattr(value, "__wrapped__", None)


def _with_other_calls(code: types.CodeType) -> types.CodeType:
    """The same code, where it calls neither `int` nor `float`."""
    inner = tuple(
        _with_other_calls(each) if isinstance(each, types.CodeType) else each
        for each in code.co_consts
    )
    calls = [
        each
        for each in (() if _NAMES.keys().isdisjoint(code.co_names) else dis.get_instructions(code))
        if each.opname == _LOADS and each.argval in _NAMES and (each.arg or 0) & 1
    ]
    called = list(dict.fromkeys(each.argval for each in calls))
    others = {name: (len(code.co_names) + at) << 1 | 1 for at, name in enumerate(called)}
    fits = all(each <= _MAX for each in (*others.values(), *(c.arg or 0 for c in calls)))
    if calls and fits:
        written = bytearray(code.co_code)
        for each in calls:
            written[each.offset + 1] = others[each.argval]
        names = (*code.co_names, *map(_NAMES.__getitem__, called))
        return code.replace(co_code=bytes(written), co_names=names, co_consts=inner)
    same = all(a is b for a, b in zip(inner, code.co_consts, strict=True))
    return code if same else code.replace(co_consts=inner)
