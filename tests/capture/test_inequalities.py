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
