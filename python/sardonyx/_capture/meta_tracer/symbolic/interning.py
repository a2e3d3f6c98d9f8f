"""Arithmetic of sizes is done once: equal operands give the node that they gave before.

Layers are alike, so that most of what is asked of sizes was asked before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

# What sympy says of an inequality, by its kind and sides: symbols are the same in every capture.
_relations: dict[tuple[Any, ...], Any] = {}
_MAX_RELATIONS = 20_000


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
        relation = _relations.get(sides)
        if relation is None:
            if len(_relations) >= _MAX_RELATIONS:
                _relations.clear()
            relation = _relations[sides] = made(cls, lhs, rhs)
        return relation

    with mock.patch.object(kind, "__new__", staticmethod(remembered)):
        yield
