"""Relations of sizes that are decided without asking sympy's rules, and sympy's caches."""

from __future__ import annotations

import pytest
import sympy

from sardonyx._capture.meta_tracer.symbolic import interning
from sardonyx._torch_private.sympy_caches import larger_sympy_caches


@pytest.mark.parametrize("kind", [sympy.Gt, sympy.Ge, sympy.Lt, sympy.Le, sympy.Eq, sympy.Ne])
@pytest.mark.parametrize(
    "assumptions",
    [
        {"positive": True, "integer": True},
        {"nonnegative": True, "integer": True},
        {"integer": True},
        {"positive": True},
    ],
)
def test_a_relation_of_a_symbol_is_what_sympy_has(monkeypatch, kind, assumptions):
    monkeypatch.setattr(interning, "_relations", {})
    symbol = sympy.Symbol("s", **assumptions)
    numbers = [sympy.Integer(number) for number in range(-3, 6)]
    sides = [pair for n in numbers for pair in ((symbol, n), (n, symbol))]
    expected = [kind(*each) for each in sides]
    with interning.relations_remembered():
        results = [kind(*each) for each in sides]
        again = [kind(*each) for each in sides]
    for made in (results, again):
        assert made == expected
        assert [each.args for each in made] == [each.args for each in expected]


def test_equalities_of_two_sizes_are_what_sympy_has(monkeypatch):
    monkeypatch.setattr(interning, "_relations", {})
    n, m = sympy.symbols("n m", integer=True, positive=True)
    sizes = (n, m, n + m, 2 * n, n * m, -n, sympy.S(0), sympy.true)
    expected = [kind(a, b) for kind in (sympy.Eq, sympy.Ne) for a in sizes for b in sizes]
    with interning.relations_remembered():
        for _ in range(2):
            results = [kind(a, b) for kind in (sympy.Eq, sympy.Ne) for a in sizes for b in sizes]
            assert results == expected
        assert sympy.Eq(n, n, evaluate=False) != sympy.true


def test_sympy_keeps_more_results_during_a_capture():
    n = sympy.Symbol("n", integer=True, positive=True)
    counts = sympy.Add.__new__.cache_info  # of sympy's own cache
    before = counts()
    with larger_sympy_caches():
        first = [n + number for number in range(5_000)]
        again = [n + number for number in range(5_000)]
        assert all(a is b for a, b in zip(first, again, strict=True))
    assert counts() == before
    assert n + 1 == first[1]
    assert counts() != before


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
