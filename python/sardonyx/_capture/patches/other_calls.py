"""Calls of Python's own functions that go to others for a while.

Only calls are others: `isinstance(x, int)` and `dtype=int` mean what they did.
"""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

# The instruction says whether what it loads is called since Python 3.11.
SAYS_CALLS = sys.version_info >= (3, 11)
_LOADS = "LOAD_GLOBAL"
_MAX = 255  # of what an instruction holds by itself

Functions = Mapping[str, Callable[..., Any]]
IsMeant = Callable[[types.CodeType, dis.Instruction], bool]


@contextmanager
def calling_others(
    functions: Iterable[types.FunctionType],
    others: Functions,
    is_meant: IsMeant | None = None,
) -> Iterator[None]:
    """Within it, the code of `functions` calls `others` for the global functions of these names,
    where `is_meant`, if there is one, is true of the code and of the instruction that loads the
    function."""
    changed: list[tuple[types.FunctionType, types.CodeType]] = []
    holders: list[dict[str, Any]] = []
    names = {f"__sardonyx_{name}__": function for name, function in others.items()}
    try:
        for function in functions if SAYS_CALLS else ():
            code = _with_other_calls(function.__code__, others, is_meant)
            if code is function.__code__:
                continue
            changed.append((function, function.__code__))
            if not names.keys() & function.__globals__.keys():
                holders.append(function.__globals__)
                function.__globals__.update(names)
            function.__code__ = code
        yield
    finally:
        for function, code in changed:
            function.__code__ = code
        for known in holders:
            for name in names:
                del known[name]


def functions_of(model: torch.nn.Module) -> list[types.FunctionType]:
    """Those of the Python modules that the model's classes stand in, but for PyTorch's own, and
    what these have from others of their package."""
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


def _with_other_calls(
    code: types.CodeType, others: Functions, is_meant: IsMeant | None
) -> types.CodeType:
    """The same code, where it calls none of the functions."""
    inner = tuple(
        _with_other_calls(each, others, is_meant) if isinstance(each, types.CodeType) else each
        for each in code.co_consts
    )
    calls = [
        each
        for each in (() if others.keys().isdisjoint(code.co_names) else dis.get_instructions(code))
        if each.opname == _LOADS and each.argval in others and (each.arg or 0) & 1
        if is_meant is None or is_meant(code, each)
    ]
    called = list(dict.fromkeys(each.argval for each in calls))
    places = {name: (len(code.co_names) + at) << 1 | 1 for at, name in enumerate(called)}
    fits = all(each <= _MAX for each in (*places.values(), *(c.arg or 0 for c in calls)))
    if calls and fits:
        written = bytearray(code.co_code)
        for each in calls:
            written[each.offset + 1] = places[each.argval]
        names = (*code.co_names, *(f"__sardonyx_{name}__" for name in called))
        return code.replace(co_code=bytes(written), co_names=names, co_consts=inner)
    same = all(a is b for a, b in zip(inner, code.co_consts, strict=True))
    return code if same else code.replace(co_consts=inner)
