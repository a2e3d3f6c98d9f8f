"""Equations of sizes, solved for one size each: sizes that satisfy them, made of any that do not;
and whether conditions contradict each other."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from .size_tables import SizeTable, integers_of


def with_equations_solved(table: SizeTable, equations: tuple[Any, ...]) -> SizeTable:
    """The rows of the table with the sizes that follow from the equations, which may be below 0.
    What cannot be solved for a size is left to chance."""
    columns = dict(table.columns)
    for symbol, size in solutions(equations).items():
        column = integers_of(size, table) if symbol in columns else None
        if column is not None:
            columns[symbol] = column
    return SizeTable(columns, len(table))


@functools.lru_cache(maxsize=1 << 10)
def solutions(equations: tuple[Any, ...]) -> Mapping[Any, Any]:
    """Symbols, with expressions of those that are not solved for."""
    if not equations:
        return {}
    known = solutions(equations[:-1])
    last = equations[-1]
    found = _solved((last.lhs - last.rhs).xreplace(dict(known)))
    if found is None:
        return known
    symbol, size = found
    return {**{each: of.xreplace({symbol: size}) for each, of in known.items()}, symbol: size}


def equations_of(conditions: Iterable[tuple[Any, bool]]) -> tuple[Any, ...]:
    """Those among relations that hold or do not."""
    import sympy

    kinds = {True: sympy.Equality, False: sympy.Unequality}
    return tuple(relation for relation, truth in conditions if isinstance(relation, kinds[truth]))


def contradict(conditions: Iterable[tuple[Any, bool]]) -> bool:
    """Whether it is seen that no sizes satisfy all of these relations, which hold or do not: with
    equal sizes put in, one of them denies another."""
    import sympy

    known: dict[Any, bool] = {}
    conditions = list(conditions)
    equal = dict(solutions(equations_of(conditions)))
    for given, holds in conditions:
        relation, truth = given.xreplace(equal), holds
        if isinstance(relation, sympy.Unequality):
            relation, truth = sympy.Eq(*relation.args), not holds
        if isinstance(relation, sympy.Equality):
            relation = sympy.expand(relation.lhs - relation.rhs)
        if relation in (sympy.true, sympy.false) and bool(relation) is not truth:
            return True
        if known.setdefault(relation, truth) is not truth:
            return True
    return False


def _solved(difference: Any) -> tuple[Any, Any] | None:
    """A symbol, and what it is where the difference is 0: one that is in a single term and that no
    number multiplies, rather such that no other is subtracted."""
    import sympy

    terms = sympy.Add.make_args(sympy.expand(difference))
    found: tuple[Any, Any] | None = None
    for term in terms:
        symbol = term if term.is_Symbol else -term
        others = [each for each in terms if each is not term]
        if not symbol.is_Symbol or any(each.has(symbol) for each in others):
            continue
        rest = sympy.Add(*others)
        size = -rest if symbol == term else rest
        if not any(each.could_extract_minus_sign() for each in sympy.Add.make_args(size)):
            return symbol, size
        found = found or (symbol, size)
    return found
