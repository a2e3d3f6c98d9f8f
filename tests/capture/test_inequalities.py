"""Inequalities of sizes that are decided without asking sympy's rules."""

from __future__ import annotations

import pytest
import sympy

from sardonyx._capture.meta_tracer.symbolic import interning


@pytest.mark.parametrize("kind", [sympy.Gt, sympy.Ge, sympy.Lt, sympy.Le])
@pytest.mark.parametrize(
    "assumptions",
    [
        {"positive": True, "integer": True},
        {"nonnegative": True, "integer": True},
        {"integer": True},
        {"positive": True},
    ],
)
def test_an_inequality_of_a_symbol_is_what_sympy_has(monkeypatch, kind, assumptions):
    monkeypatch.setattr(interning, "_relations", {})
    symbol = sympy.Symbol("s", **assumptions)
    numbers = [sympy.Integer(number) for number in range(-3, 6)]
    sides = [pair for n in numbers for pair in ((symbol, n), (n, symbol))]
    expected = [kind(*each) for each in sides]
    with interning.inequalities_remembered():
        results = [kind(*each) for each in sides]
    assert results == expected
    assert [each.args for each in results] == [each.args for each in expected]


def test_parts_are_those_that_sympy_finds():
    from torch.utils._sympy.functions import FloorDiv

    n, m = sympy.symbols("n m", integer=True, positive=True)
    windows = FloorDiv(n + 3, 4) * FloorDiv(m, 8) - sympy.Max(1, FloorDiv(FloorDiv(m, 8), 2)) ** 2
    relations = (windows, sympy.Eq(windows, 2 * n), sympy.S(3), n, sympy.Rational(1, 2) * n)
    kinds = (FloorDiv, sympy.Max, sympy.Pow, sympy.Rational, sympy.Integer, sympy.Symbol)
    for relation in relations:
        wanted = [relation.atoms(kind) for kind in kinds]
        both, leaves = relation.atoms(FloorDiv, sympy.Max), relation.atoms()
        with interning.parts_remembered():
            for _ in range(2):
                assert [relation.atoms(kind) for kind in kinds] == wanted
                assert relation.atoms(FloorDiv, sympy.Max) == both
                assert relation.atoms() == leaves
                assert relation.atoms(n) == {each for each in leaves if each.is_Symbol}
