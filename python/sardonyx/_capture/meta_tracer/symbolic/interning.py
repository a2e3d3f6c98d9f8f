"""Arithmetic of sizes is done once: equal operands give the node that they gave before.

Layers are alike, so that most of what is asked of sizes was asked before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

# By its operator, what an inequality of a positive integer and a number is where the integer's
# sign decides it, and the least number for which it does not.
_OF_POSITIVE = {">": (True, 1), ">=": (True, 2), "<": (False, 2), "<=": (False, 1)}
_MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}

# What sympy says of an inequality, by its kind and sides: symbols are the same in every capture.
_relations: dict[tuple[Any, ...], Any] = {}
_MAX_RELATIONS = 20_000
_UNDECIDED = object()


@contextmanager
def relations_remembered() -> Iterator[None]:
    """Within it, sympy decides a relation once, also for captures that follow: it asks dozens of
    rules whether a sum of sizes is negative, and torch.export's sizes ask that for each input."""
    from sympy.core import relational
    from sympy.core.basic import Basic
    from sympy.core.parameters import global_parameters

    def remembering(made: Any) -> Any:
        def remembered(cls: Any, lhs: Any, rhs: Any, **options: Any) -> Any:
            is_plain = isinstance(lhs, Basic) and isinstance(rhs, Basic) and not options
            if not is_plain or not global_parameters.evaluate:
                return made(cls, lhs, rhs, **options)
            sides = (cls, lhs, rhs)
            relation = _relations.get(sides)
            if relation is None:
                if len(_relations) >= _MAX_RELATIONS:
                    _relations.clear()
                relation = _of_positive_symbol(cls, lhs, rhs)
                if relation is None:
                    relation = made(cls, lhs, rhs)
                elif relation is _UNDECIDED:
                    relation = made(cls, lhs, rhs, evaluate=False)
                _relations[sides] = relation
            return relation

        return staticmethod(remembered)

    kinds: Any = (relational._Inequality, relational.Equality, relational.Unequality)
    with ExitStack() as stack:
        for kind in kinds:
            patch = mock.patch.object(kind, "__new__", remembering(kind.__new__))
            stack.enter_context(patch)
        yield


# The parts of these types that an expression has.
_parts: dict[tuple[Any, tuple[type, ...]], frozenset[Any]] = {}
_MAX_PARTS = 100_000


@contextmanager
def parts_remembered() -> Iterator[None]:
    """Within it, sympy looks for the parts of a type in an expression once, also where the
    expression is part of others: PyTorch looks for quotients in all that it knows of sizes whenever
    it learns of another one, and windows of windows have thousands of parts, most of them equal."""
    from sympy.core.basic import Basic

    found = Basic.atoms

    def atoms(expression: Any, *types: Any) -> Any:
        if not types or not all(isinstance(each, type) for each in types):
            return found(expression, *types)
        return set(_parts_of(expression, types, Basic))

    with mock.patch.object(Basic, "atoms", atoms):
        yield


def _parts_of(expression: Any, types: tuple[type, ...], basic: type) -> frozenset[Any]:
    own = frozenset([expression]) if isinstance(expression, types) else frozenset()
    args = [each for each in expression.args if isinstance(each, basic)]
    if not args:
        return own
    known = _parts.get((expression, types))
    if known is None:
        known = own.union(*(_parts_of(each, types, basic) for each in args))
        if len(_parts) >= _MAX_PARTS:
            _parts.clear()
        _parts[expression, types] = known
    return known


def _of_positive_symbol(kind: Any, lhs: Any, rhs: Any) -> Any:
    """What sympy says of a positive integer and a number, for which it takes milliseconds: each
    size of an input is compared with 1, and each product with 2. None of other inequalities."""
    import sympy

    operator = kind.rel_op
    if operator not in _OF_POSITIVE:
        return None
    if lhs.is_Integer:
        lhs, rhs, operator = rhs, lhs, _MIRRORED[operator]
    if not (lhs.is_Symbol and rhs.is_Integer and lhs.is_integer and lhs.is_positive):
        return None
    truth, end = _OF_POSITIVE[operator]
    return sympy.S(truth) if rhs < end else _UNDECIDED
