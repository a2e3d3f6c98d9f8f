"""Calls of operators that write into a tensor."""

from __future__ import annotations

import itertools

from .said import DTYPES, INT, NUMBERS, PAIRS, Calls, D, F, T, call


def copied() -> Calls:
    yield from itertools.starmap(call, PAIRS)
    for dtype, other in itertools.product(DTYPES, DTYPES):
        yield call(T("ab", dtype), T("b", other))
    for size in ("ab", "1b", "b", "", "cab", "a1", "ba", "0b", "45"):
        yield from (call(T("ab"), T(size)), call(T("45"), T(size)), call(T("a45"), T(size)))


def sums() -> Calls:
    yield from copied()
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        yield from (call(T("45", dtype), number), call(T("", dtype), number))
        yield call(T("45", dtype), T("5", dtype), alpha=number)
    for a, b in itertools.product(DTYPES, DTYPES):
        yield from (call(T("45", a), T("", b)), call(T("", a), T("", b)), call(T("", a), T("4", b)))


def rows_copied() -> Calls:
    own = (T("5b"), T("5b", order="10"), T("a5"), T("b"), T(""), T("55", spread="0"), T("0b"))
    given = (T("cb"), T("ac"), T("c"), T(""), T("3b"), T("a3"), T("5b"), T("0b"), T("45"))
    for tensor, rows, axis in itertools.product(own, given, (0, 1, -1)):
        yield from (call(tensor, axis, index, rows) for index in (T("c", INT), T("3", INT)))
        yield from (call(tensor, axis, index, rows) for index in (T("", INT), T("0", INT)))
    for dtype in DTYPES:
        yield call(T("45", dtype), 0, T("3", INT), T("35", dtype))
        yield call(T("45", dtype), 0, T("3", INT), T("35", D))
        yield call(T("45", F), 0, T("3", dtype), T("35", F))
