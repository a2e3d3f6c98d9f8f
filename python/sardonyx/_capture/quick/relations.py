"""What was asked of sizes: whether the answer leaves them open."""

from __future__ import annotations

import itertools
from typing import Any

from .periodic import always_holds


def leaves_sizes_open(relation: Any) -> bool:
    """Whether it relates sums and products of sizes, bounds them, excludes one, or is always so.
    Rounded quotients and numbers that sizes have to be hold for the example's neighbours alone."""
    import sympy
    from sympy.core.function import Application

    if relation is sympy.true:
        return True
    if not isinstance(relation, sympy.core.relational.Relational):
        return always_holds(relation)
    if isinstance(relation, sympy.Unequality):
        return True
    sides = (relation.lhs, relation.rhs)
    if not relation.atoms(Application):
        return not isinstance(relation, sympy.Equality) or all(side.free_symbols for side in sides)
    if not isinstance(relation, sympy.Equality) and _is_always_so(relation):
        return True
    return always_holds(relation)


def _is_always_so(relation: Any) -> bool:
    """Whether an inequality follows from what rounding, remainders and least ones are."""
    import sympy

    more, less = relation.gts, relation.lts
    is_strict = isinstance(relation, (sympy.StrictLessThan, sympy.StrictGreaterThan))
    parts = [_least(term) for term in sympy.Add.make_args(sympy.expand(more - less))]
    return any(
        _is_at_least(sympy.expand(sum(chosen)), 1 if is_strict else 0)
        for chosen in itertools.islice(itertools.product(*parts), _MOST_TRIED)
    )


_MOST_TRIED = 64


def _least(term: Any) -> list[Any]:
    """What a term is never below, itself among it."""
    from sympy.core.function import Application

    factor, rest = term.as_coeff_Mul()
    if not isinstance(rest, Application):
        return [term]
    kind, args = type(rest).__name__, rest.args
    is_by_number = len(args) == 2 and args[1].is_Integer and args[1] > 0
    bounds: list[Any] = []
    if kind == "FloorDiv" and is_by_number:
        value, by = args
        bounds = [(value - by + 1) / by if factor > 0 else value / by]
    elif kind in {"Mod", "PythonMod"} and is_by_number:
        bounds = [0 if factor > 0 else args[1] - 1]
    elif (kind == "Min" and factor < 0) or (kind == "Max" and factor > 0):
        bounds = list(args)
    return [*(factor * bound for bound in bounds), term]


def _is_at_least(value: Any, least: int) -> bool:
    """Whether a sum of products of sizes is, whatever these are from 1 on, or from 0."""
    import sympy
    from sympy.core.function import Application

    over = {s: s + 1 for s in value.free_symbols if s.is_positive}
    terms = sympy.Add.make_args(sympy.expand(value.xreplace(over)))
    numbers = [term for term in terms if term.is_number]
    others = [term for term in terms if not term.is_number]
    if any(t.as_coeff_Mul()[0] < 0 or t.atoms(Application) for t in others):
        return False
    return bool(sum(numbers) >= least)
