"""Relations of sizes evaluated for many samples at once, compared with one sample at a time."""

from __future__ import annotations

import random
from typing import Any

import pytest
import sympy
from torch.utils._sympy import functions

from sardonyx._capture.meta_tracer.symbolic import size_tables
from sardonyx._capture.meta_tracer.symbolic.size_tables import (
    SizeTable,
    one_value,
    outcomes,
    truth_of,
)

from .test_size_evaluation import SYMBOLS, real_of, relation_of

H, W = SYMBOLS
ROWS = [dict(zip(SYMBOLS, sizes, strict=True)) for sizes in ((0, 0), (0, 3), (2, 9), (4099, 64))]


def table_of(rows: list[dict[Any, int]]) -> SizeTable:
    return SizeTable.of_rows(rows, SYMBOLS)


def comparison_of(draw: random.Random) -> Any:
    """A relation of integers, or of real numbers."""
    return relation_of(draw) if draw.random() < 0.5 else sympy.Gt(real_of(draw), 1)


@pytest.mark.parametrize("seed", range(60))
def test_the_same_as_row_by_row(seed: int) -> None:
    draw = random.Random(seed)
    try:
        relation = comparison_of(draw)
    except (ArithmeticError, TypeError, ValueError):
        return  # sympy evaluates a part without symbols, which has no value
    found = outcomes(relation, table_of(ROWS))
    truth = truth_of(relation)
    expected = [truth(row) for row in ROWS]
    assert list(found.is_true) == [each is True for each in expected], relation
    assert list(found.is_false) == [each is False for each in expected], relation
    assert found.answers == set(expected)


def test_a_division_by_zero_is_neither_true_nor_false() -> None:
    found = outcomes(sympy.Lt(functions.FloorDiv(W, H), 4), table_of(ROWS))
    assert list(found.is_true) == [False, False, False, True]
    assert list(found.is_false) == [False, False, True, False]


def test_integers_beyond_64_bits_are_exact() -> None:
    rows = [{H: 1 << 40, W: 1 << 40}, {H: 1 << 40, W: (1 << 40) - 1}]
    found = outcomes(sympy.Eq(H * W * 16, sympy.Integer(1 << 84), evaluate=False), table_of(rows))
    assert list(found.is_true) == [True, False]


@pytest.mark.parametrize(
    "expression, rows, expected",
    [
        (functions.FloorDiv(H, 8), [{H: 8, W: 0}, {H: 15, W: 1}], 1),
        (functions.FloorDiv(H, 8), [{H: 8, W: 0}, {H: 16, W: 1}], None),
        (functions.FloorDiv(H, W), [{H: 0, W: 1}, {H: 1, W: 0}], None),
        (H, [], None),
    ],
)
def test_one_value(expression: Any, rows: list[dict[Any, int]], expected: Any) -> None:
    assert one_value(expression, table_of(rows)) == expected


def test_rows_are_chosen_and_joined() -> None:
    table = table_of(ROWS)
    chosen = table.where(table.columns[H] > 0)
    assert list(chosen) == ROWS[2:]
    assert list(SizeTable.joined([chosen, table])) == [*ROWS[2:], *ROWS]
    assert table.largest(H) == 4099


def test_products_that_no_row_makes_too_large_are_evaluated_at_once(monkeypatch) -> None:
    quotient = functions.FloorDiv(H * H * H, W)
    relation = sympy.Eq(16 * W * H * quotient, 16 * H**4)
    rows = [{H: 4099, W: 4099}, {H: 4096, W: 64}, {H: 4099, W: 2}, {H: 3, W: 4099}, {H: 3, W: 0}]
    rows += [{H: 4099, W: 1 << 30}]
    truth = truth_of(relation)
    expected = [truth(row) for row in rows]
    assert {True, False, None} == set(expected)
    monkeypatch.setattr(size_tables, "truth_of", None)  # a row at a time
    found = outcomes(relation, table_of(rows))
    assert list(found.is_true) == [each is True for each in expected]
    assert list(found.is_false) == [each is False for each in expected]
