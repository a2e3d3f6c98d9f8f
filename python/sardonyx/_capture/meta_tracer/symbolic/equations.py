"""Sizes that satisfy equations, of any that do not: one size of each is computed of the others."""

from __future__ import annotations

import functools
from collections.abc import Mapping
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
