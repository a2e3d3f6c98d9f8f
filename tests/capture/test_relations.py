"""What quick capture takes for a relation that leaves sizes open."""

from __future__ import annotations

import itertools
import random

import pytest
import sympy
from torch.utils._sympy.functions import FloorDiv, Max, Min, Mod

from sardonyx._capture.quick.periodic import always_holds
from sardonyx._capture.quick.relations import leaves_sizes_open

S, T = (sympy.Symbol(name, positive=True, integer=True) for name in "st")
PADDED = S + Mod(64 - Mod(S, 64), 64)  # to the next multiple of 64
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
        sympy.Eq(Mod(64 * T * PADDED, 4096 * T), 0, evaluate=False),
        sympy.Eq(Mod(PADDED, FloorDiv(PADDED, 64)), 0, evaluate=False),
        sympy.Le(S, 2 * FloorDiv(S + 1, 2)),
        sympy.Le(Max(1, FloorDiv(S + 1, 2)), S),
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
        sympy.Eq(Mod(64 * T * (PADDED + 1), 4096 * T), 0, evaluate=False),
        sympy.Le(S, 2 * FloorDiv(S, 2)),
        sympy.Le(FloorDiv(S, T), S),
    ],
)
def test_fixes_sizes_or_may(relation):
    assert not leaves_sizes_open(relation)


def _drawn(numbers, depth):
    """An expression of sizes, quotients and remainders."""
    if depth == 0:
        return numbers.choice([S, T, N, sympy.Integer(numbers.randint(0, 5))])
    a, b = (_drawn(numbers, depth - 1) for _ in range(2))
    by = numbers.randint(2, 4)
    return numbers.choice(
        [a + b, a * numbers.randint(1, 3), FloorDiv(a, by), Mod(a, by), Max(a, b)]
    )


def test_what_is_said_to_hold_does():
    numbers, proved = random.Random(3), 0
    for _ in range(150):
        a, b = (_drawn(numbers, numbers.randint(1, 3)) for _ in range(2))
        relation = numbers.choice([sympy.Le, sympy.Lt, sympy.Eq])(a, b)
        if relation in (sympy.true, sympy.false) or not always_holds(relation):
            continue
        proved += 1
        for values in itertools.product((1, 2, 3, 7, 12), (1, 2, 5, 8), (0, 1, 6, 11)):
            assert relation.subs(dict(zip((S, T, N), values, strict=True))) == sympy.true
    assert proved > 3
