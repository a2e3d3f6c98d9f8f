"""What quick capture takes for a relation that leaves sizes open."""

from __future__ import annotations

import pytest
import sympy
from torch.utils._sympy.functions import FloorDiv, Max, Min, Mod

from sardonyx._capture.quick.relations import leaves_sizes_open

S, T = (sympy.Symbol(name, positive=True, integer=True) for name in "st")
N = sympy.Symbol("n", nonnegative=True, integer=True)


@pytest.mark.parametrize(
    "relation",
    [
        sympy.Le(Min(8, S), S),
        sympy.Le(128 * FloorDiv(S, 128), S),
        sympy.Ge(2 * FloorDiv(S, 2) + 1, S),
        sympy.Lt(Mod(S, 8), 8),
        sympy.Le(FloorDiv(S, 2), S),
        sympy.Le(FloorDiv(S, 2), S * T),
        sympy.Ge(Max(S, T), T),
        sympy.Le(Min(8, FloorDiv(S, 4)), FloorDiv(S, 4)),
        sympy.Ge(Mod(N, 3) + N, 0),
        sympy.Lt(S + T, 9),
        sympy.Eq(S, 2 * T),
        sympy.Ne(FloorDiv(S, 2), T),
        sympy.true,
    ],
)
def test_leaves_sizes_open(relation):
    assert leaves_sizes_open(relation)


@pytest.mark.parametrize(
    "relation",
    [
        sympy.Eq(FloorDiv(S, 64), 1),
        sympy.Eq(S, 4),
        sympy.Le(FloorDiv(S, 64), 1),
        sympy.Ge(128 * FloorDiv(S, 128), S),
        sympy.Lt(Min(8, S), S),
        sympy.Ge(Min(8, S), 1 + T),
        sympy.Gt(Mod(S, 8), 0),
        sympy.Lt(FloorDiv(S, 2), T),
        sympy.Lt(FloorDiv(N, 2), N),
        sympy.Le(S * FloorDiv(S, 2), S),
        sympy.Le(FloorDiv(S, T), S),
    ],
)
def test_fixes_sizes_or_may(relation):
    assert not leaves_sizes_open(relation)
