"""`max()`, `min()` and `math.pow()` of sizes, which torch.export replaces while a model runs."""

from __future__ import annotations

import importlib
import math
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .probing import Probe, has, patched

_NON_STRICT, _TRACE = "torch._export.non_strict_utils", "torch.export._trace"
BUILTINS = Probe(
    "max() and min() of sizes and real numbers with the types that Python gives",
    has(_NON_STRICT, "_tensor_min_max", "_override_builtin_ops"),
    has(_TRACE, "_override_builtin_ops"),
)


# PyTorch, sympy and we choose among numbers thousands of times in a capture. PyTorch's replacement
# looks for tensors and sizes, one number after the other.
_NUMBERS = frozenset({int, float})
_COLLECTIONS = frozenset({list, tuple, set, frozenset, types.GeneratorType})
_OF_PYTORCH = frozenset({"tensor_callable"})  # of a call without keywords


@contextmanager
def typed_as_in_python() -> Iterator[None]:
    """Within it, these give what Python gives. torch.export has `max(size, 1.5)` always be a real
    number, and `math.pow(2, 3)` an integer."""
    if not BUILTINS.available:
        yield
        return
    module = importlib.import_module(_NON_STRICT)
    choose, override = module._tensor_min_max, module._override_builtin_ops

    def chosen(*args: Any, real_callable: Callable[..., Any], **kwargs: Any) -> Any:
        if kwargs.keys() == _OF_PYTORCH:
            if len(args) == 1 and type(args[0]) in _COLLECTIONS:
                args = (list(args[0]),)
            among = args[0] if len(args) == 1 and type(args[0]) is list else args
            if len(among) > 1 and all(type(each) in _NUMBERS for each in among):
                return real_callable(among)
        if _is_of_both_types(args):  # compares them, as Python does
            return real_callable(*args)
        return choose(*args, real_callable=real_callable, **kwargs)

    @contextmanager
    def overridden() -> Iterator[None]:
        power = math.pow
        with override():
            of_symbols = math.pow
            math.pow = lambda x, y: _power(x, y, power, of_symbols)
            yield

    with ExitStack() as stack:
        stack.enter_context(patched(module, "_tensor_min_max", chosen))
        for name in (_NON_STRICT, _TRACE):
            holder = importlib.import_module(name)
            stack.enter_context(patched(holder, "_override_builtin_ops", overridden))
        yield


def _is_of_both_types(args: tuple[Any, ...]) -> bool:
    """Whether one is an integer size, the other a real number, or the other way round."""
    import torch

    if len(args) != 2 or not any(isinstance(each, torch.SymInt) for each in args):
        return False
    return any(isinstance(each, (float, torch.SymFloat)) for each in args)


def _power(x: Any, y: Any, plain: Callable[..., Any], of_symbols: Callable[..., Any]) -> Any:
    import torch

    if any(isinstance(each, (torch.SymInt, torch.SymFloat)) for each in (x, y)):
        return of_symbols(torch.sym_float(x), torch.sym_float(y))
    return of_symbols(x, y) if isinstance(x, torch.Tensor) else plain(x, y)
