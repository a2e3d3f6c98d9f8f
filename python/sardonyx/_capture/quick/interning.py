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
