"""Real arithmetic of sizes, which Python's own functions would do for the example's sizes alone:
`math.log(length / 16)`, `float(length)`, `int(length * 0.25)`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType
from typing import Any

import torch

from sardonyx._torch_private import sizes as torch_sizes

from .patching import Replacement, replaced
from .symbolic_int_calls import whole_sizes

# Functions of one number for which ONNX has an operator, or a formula.
_FUNCTIONS = (
    *("log", "log2", "log10", "log1p", "exp", "expm1", "sqrt"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh"),
    *("atanh", "erf"),
)


@contextmanager
def real_sizes(model: torch.nn.Module, codes: Mapping[CodeType, str]) -> Iterator[None]:
    """Within it, real numbers that the model's classes, and functions of these codes, compute of
    sizes stay symbolic. `codes`: with the names of the modules that they are of."""
    changed = {id(getattr(math, name)): _of_size(name) for name in _FUNCTIONS}
    changed[id(math.log)] = _log
    changed[id(math.fabs)] = _absolute
    names = {type(each).__module__ for each in model.modules()}.union(codes.values())
    modules = [math, *filter(None, map(sys.modules.get, sorted(names - {"math"})))]
    replacements = [
        Replacement(module, name, changed[id(value)])
        for module in modules
        for name, value in list(vars(module).items())
        if id(value) in changed
    ]
    with whole_sizes(model, codes), replaced(replacements):
        yield


def _is_size(number: Any) -> bool:
    return isinstance(number, (torch.SymInt, torch.SymFloat))


def _of_size(name: str) -> Callable[[Any], Any]:
    function = getattr(math, name)

    def computed(x: Any) -> Any:
        return torch_sizes.real_function(name, x) if _is_size(x) else function(x)

    return computed


def _log(x: Any, base: Any = None) -> Any:
    """math.log, whose second argument is optional."""
    if not _is_size(x) and not _is_size(base):
        return _MATH_LOG(x) if base is None else _MATH_LOG(x, base)
    return _log_of_one(x) if base is None else _log_of_one(x) / _log_of_one(base)


_MATH_LOG = math.log


def _log_of_one(x: Any) -> Any:
    return torch_sizes.real_function("log", x) if _is_size(x) else _MATH_LOG(x)


def _absolute(x: Any) -> Any:
    return abs(torch.sym_float(x)) if _is_size(x) else abs(float(x))
