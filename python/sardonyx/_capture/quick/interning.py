"""Arithmetic of sizes is done once: equal operands give the node that they gave before.

Layers are alike, so that most of what is asked of sizes was asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

_METHODS = (
    *("add", "sub", "mul", "floordiv", "mod", "sym_max", "sym_min"),
    *("eq", "ne", "lt", "le", "gt", "ge"),
)


@contextmanager
def interned() -> Iterator[None]:
    """Within it, torch.export's sizes remember what was computed of them."""
    from torch.fx.experimental.sym_node import SymNode

    known: dict[tuple[Any, ...], Any] = {}
    with ExitStack() as stack:
        for name in _METHODS:
            method = _remembered(name, getattr(SymNode, name), known)
            stack.enter_context(mock.patch.object(SymNode, name, method))
        yield


# What sympy says of an inequality, by its kind and sides: symbols are the same in every capture.
_said: dict[tuple[Any, ...], Any] = {}
_MOST_SAID = 20_000


@contextmanager
def inequalities_remembered() -> Iterator[None]:
    """Within it, sympy decides an inequality once, also for captures that follow: it asks dozens of
    rules whether a sum of sizes is negative, and torch.export's sizes ask that for each input."""
    from sympy.core import relational
    from sympy.core.basic import Basic
    from sympy.core.parameters import global_parameters

    kind: Any = relational._Inequality
    made = kind.__new__

    def remembered(cls: Any, lhs: Any, rhs: Any, **options: Any) -> Any:
        is_plain = isinstance(lhs, Basic) and isinstance(rhs, Basic) and not options
        if not is_plain or not global_parameters.evaluate:
            return made(cls, lhs, rhs, **options)
        sides = (cls, lhs, rhs)
        said = _said.get(sides)
        if said is None:
            if len(_said) >= _MOST_SAID:
                _said.clear()
            said = _said[sides] = made(cls, lhs, rhs)
        return said

    with mock.patch.object(kind, "__new__", staticmethod(remembered)):
        yield


def _remembered(
    name: str, method: Callable[[Any, Any], Any], known: dict[tuple[Any, ...], Any]
) -> Callable[[Any, Any], Any]:
    def computed(node: Any, other: Any) -> Any:
        # As they are now that some sizes are known to be equal, as the method takes them.
        operands = (name, node.expr, other.expr, node.pytype, other.pytype)
        result = known.get(operands)
        if result is None:
            result = known[operands] = method(node, other)
        return result

    return computed
