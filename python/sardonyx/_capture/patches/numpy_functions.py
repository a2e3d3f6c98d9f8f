"""NumPy's functions of sizes: `np.sqrt(x.shape[-1])`, `np.ceil(length / 2)`.

NumPy takes a symbolic size for an object, for which few of its functions are defined, and which
`np.isscalar()` denies to be a number.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch

from sardonyx._torch_private import sizes as torch_sizes

from .patching import Replacement, replaced

# What `math` calls them, where that is another name.
_IN_MATH = {f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
_REAL = (
    *("sqrt", "exp", "expm1", "log", "log2", "log10", "log1p"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", *_IN_MATH),
)
_ROUNDED: dict[str, Callable[[Any], Any]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "trunc": math.trunc,
    "rint": round,
}


@contextmanager
def numpy_of_sizes(model: torch.nn.Module) -> Iterator[None]:
    """Within it, NumPy's functions of one number compute with sizes, for all callers by NumPy's
    module, and for the modules that the model's classes are of."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        with nullcontext():
            yield
        return
    changed: dict[int, Any] = {}
    for name in (*_REAL, *_ROUNDED, "round", "around", "fabs", "isscalar"):
        function = getattr(numpy, name)
        changed[id(function)] = _Function(function, _of_size(name, function))
    names = {type(each).__module__ for each in model.modules()} - {"numpy"}
    modules = [numpy, *filter(None, map(sys.modules.get, sorted(names)))]
    found = [
        Replacement(module, name, changed[id(value)])
        for module in modules
        for name, value in list(vars(module).items())
        if id(value) in changed
    ]
    with replaced(found):
        yield


class _Function:
    """A function of NumPy's, and what takes its place for sizes; NotImplemented where nothing."""

    def __init__(self, function: Any, of_size: Callable[..., Any]) -> None:
        self._function, self._of_size = function, of_size

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args and not kwargs and isinstance(args[0], (torch.SymInt, torch.SymFloat)):
            found = self._of_size(*args)
            if found is not NotImplemented:
                return found
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def _of_size(name: str, function: Any) -> Callable[..., Any]:
    if name in _REAL:
        return partial(_real, _IN_MATH.get(name, name))
    if name in _ROUNDED:
        # Newer releases of NumPy leave integers integers.
        is_whole = not isinstance(function(1), float)
        return partial(_rounded, _ROUNDED[name], is_whole)
    others: dict[str, Callable[..., Any]] = {"isscalar": _is_scalar, "fabs": _absolute}
    return others.get(name, _to_decimals)


def _real(name: str, size: Any, *others: Any) -> Any:
    return NotImplemented if others else torch_sizes.real_function(name, size)


def _rounded(rounded: Callable[[Any], Any], is_whole: bool, size: Any, *others: Any) -> Any:
    if others:
        return NotImplemented
    if isinstance(size, torch.SymInt):
        return size if is_whole else torch.sym_float(size)
    return torch.sym_float(rounded(size))


def _to_decimals(size: Any, decimals: Any = 0, *others: Any) -> Any:
    if others or type(decimals) is not int or decimals:
        return NotImplemented
    return size if isinstance(size, torch.SymInt) else torch.sym_float(round(size))


def _absolute(size: Any, *others: Any) -> Any:
    return NotImplemented if others else abs(torch.sym_float(size))


def _is_scalar(_: Any) -> bool:
    return True
