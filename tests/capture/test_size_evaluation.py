"""Expressions of sizes as compiled functions, compared with sympy's substitution."""

from __future__ import annotations

import random
from typing import Any

import pytest
import sympy
from torch.utils._sympy import functions

from sardonyx._capture.meta_tracer.symbolic.evaluation import evaluator
from sardonyx._capture.meta_tracer.symbolic.relations import at_sizes
from sardonyx._capture.meta_tracer.symbolic.size_tables import (
    SizeTable,
    outcomes,
)

SYMBOLS = [sympy.Symbol(name, integer=True, nonnegative=True) for name in ("h", "w")]


def drawn(draw: random.Random, depth: int) -> Any:
    if depth == 0:
        return draw.choice([*SYMBOLS, sympy.Integer(draw.choice([-3, -1, 0, 1, 2, 7]))])
    a, b = drawn(draw, depth - 1), drawn(draw, depth - 1)
    match draw.randrange(8):
        case 0:
            return functions.FloorDiv(a, draw.choice([2, 3, 7]))
        case 1:
            return functions.FloorDiv(a, b + 5 * SYMBOLS[0] * SYMBOLS[0])
        case 2:
            return functions.PythonMod(a, draw.choice([2, 3, 7]))
        case 3:
            return functions.Max(a, b)
        case 4:
            return functions.Min(a, b)
        case 5:
            return a * b
        case 6:
            return a - b
        case _:
            return a + 3 * b


def relation_of(draw: random.Random) -> Any:
    kinds = [sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge]
    first, second = (draw.choice(kinds)(drawn(draw, 2), drawn(draw, 2)) for _ in range(2))
    return draw.choice([sympy.And, sympy.Or])(first, sympy.Not(second))


def real_of(draw: random.Random) -> Any:
    """Integers and relations of real numbers."""
    whole = drawn(draw, 2)
    real = draw.choice([
        functions.IntTrueDiv(whole, drawn(draw, 1)),
        functions.OpaqueUnaryFn_log(functions.ToFloat(whole)),
        functions.OpaqueUnaryFn_sqrt(functions.ToFloat(whole * whole)),
        functions.FloatPow(functions.ToFloat(whole * whole), sympy.Float(0.5)),
        functions.ToFloat(whole) * sympy.Float(0.3),
    ])  # fmt: skip
    rounded = draw.choice([
        functions.RoundToInt, functions.TruncToInt, functions.FloorToInt, functions.CeilToInt
    ])  # fmt: skip
    return draw.choice([rounded(real), functions.FloatTrueDiv(real, real + 1.5), real < 1.5])


def by_sympy(expression: Any, row: dict[Any, int]) -> Any:
    try:
        found = expression.xreplace({each: sympy.Integer(size) for each, size in row.items()})
    except (ZeroDivisionError, ValueError):
        return None
    # PyTorch 2.15 leaves TruncToInt(0.0) a real number.
    is_whole = getattr(expression, "is_integer", False) and isinstance(found, sympy.Float)
    return sympy.Integer(found) if is_whole else found


@pytest.mark.parametrize("make", [lambda draw: drawn(draw, 3), relation_of, real_of])
def test_the_same_as_by_substitution(make: Any) -> None:
    draw = random.Random(0)
    compiled = divisions_by_zero = 0
    for _ in range(60):
        try:
            expression = make(draw)
        except (ZeroDivisionError, ValueError):
            continue
        compiled += evaluator(expression) is not None
        for sizes in [(0, 0), (0, 3), (1, 1), (2, 9), (33, 7), (4099, 64)]:
            row = dict(zip(SYMBOLS, sizes, strict=True))
            expected = by_sympy(expression, row)
            found = at_sizes(expression, row)
            assert found == expected, expression
            assert expected is None or type(found) is type(expected), expression
            divisions_by_zero += expected is None
    assert compiled > 45
    assert divisions_by_zero


def test_powers_by_sizes() -> None:
    """The halvings of an image until it is small: `size // 2 ** int(log2(size / 4))`."""
    h, w = SYMBOLS
    halvings = functions.TruncToInt(functions.OpaqueUnaryFn_log2(functions.IntTrueDiv(h, 4)))
    least = functions.FloorDiv(h, functions.PowByNatural(2, functions.Max(halvings, 0)))
    power = functions.PowByNatural(w, h)
    assert evaluator(least) is not None
    rows = [{h: n, w: m} for n, m in ((4, 2), (7, 3), (33, 2), (0, 0), (64, 1), (70, 2))]
    table = SizeTable.of_rows(rows, SYMBOLS)
    for expression in (least, power):
        found = [at_sizes(expression, row) for row in rows]
        assert found[:3] == [by_sympy(expression, row) for row in rows[:3]]
        known = outcomes(sympy.Ge(expression, 5), table)
        assert known.is_true.tolist() == [n is not None and bool(n >= 5) for n in found]
        assert known.is_false.tolist() == [n is not None and bool(n < 5) for n in found]
    assert at_sizes(least, {h: 0}) is None  # a logarithm of 0
    assert at_sizes(power, {h: 70, w: 2}) is None  # no size of a tensor


def test_fractions_and_missing_sizes_are_substituted() -> None:
    h, w = SYMBOLS
    assert evaluator(h / 2) is None
    assert at_sizes(h / 2, {h: 3}) == sympy.Rational(3, 2)
    assert at_sizes(h + w, {h: 3}) == w + 3
