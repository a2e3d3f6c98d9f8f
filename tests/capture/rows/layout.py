"""Calls of operators that move elements."""

from __future__ import annotations

import itertools
from typing import Any

import torch

from .said import ALONE, DTYPES, PAIRS, Calls, D, S, T, call


def axes() -> Calls:
    for tensor in ALONE:
        for first, second in ((0, 1), (-1, -2), (0, -1), (1, 1), (0, 3), (-4, 0)):
            yield call(tensor, first, second)


def permuted() -> Calls:
    for order in ((), (0,), (1, 0), (-1, 0), (0, 0), (2, 0, 1), (0, 2, 3, 1), (0, -1, 1, 2)):
        yield from (call(tensor, list(order)) for tensor in ALONE)


def alone() -> Calls:
    yield from (call(tensor) for tensor in ALONE)


def one_axis() -> Calls:
    for axis in (0, 1, -1, -2, 2, 4, -5):
        yield from (call(tensor, axis) for tensor in ALONE)


def expanded() -> Calls:
    tensors = (*ALONE, T("b"), T("1b"), T("a1b"), T("a1b", order="201"), T("1"), T("11", step=3))
    sizes = ([S("a"), S("b")], [-1, S("b")], [4, -1, S("b")], [S("a"), 3, S("b")], [S("a")], [5])
    for tensor, wanted in itertools.product(tensors, (*sizes, [], [2, 1], [0], [7, 1, 2], [-1])):
        yield call(tensor, list(wanted))


def viewed() -> Calls:
    tensors = (*ALONE, T("ab"), T("a3b"), T("ab4"), T("ab4", order="102"), T("4ab", order="120"))
    wanted: tuple[list[Any], ...] = (
        *([-1], [S("ab")], [S("a"), -1], [S("a"), S("b")], [S("ab"), 4], [S("a"), 3, S("b")]),
        *([S("a"), S("b"), 2, 2], [S("b"), S("a"), 4], [S("a"), S("b"), -1, 2], [1, S("a"), -1]),
        *([S("a"), 1, 3, S("b")], [S("a"), 3, S("bc")], [S("a"), 3, -1], [], [1], [1, 1], [0, 3]),
        *([0, -1], [-1, -1], [-1, 5], [3, S("ab")], [6], [3, 2], [2, 1, 3], [S("b"), S("a")]),
        *([S("a"), 1], [1, S("a")], [S("a", 1), -1], [S("ab", 1)], [-1, S("b")], [-2]),
    )
    for tensor, sizes in itertools.product(tensors, wanted):
        yield call(tensor, list(sizes))


def contiguous() -> Calls:
    yield from alone()
    for layout in (torch.channels_last, torch.preserve_format, torch.contiguous_format):
        yield from (call(tensor, memory_format=layout) for tensor in ALONE)


def sliced() -> Calls:
    most = 0x7FFFFFFFFFFFFFFF
    bounds = (
        *((None, None), (0, most), (1, most), (0, 1), (0, 2), (-1, most), (0, -1), (1, -1)),
        *((2, 1), (5, 2), (0, S("a")), (1, S("a")), (S("a", -1), most), (0, S("a", 1))),
        *((0, S("b")), (-2, -1), (-100, 100), (0, 0), (most, most), (1, 3), (3, S("b", -1))),
    )
    tensors = (T("a"), T("ab", order="10"), T("4"), T("5b"), T("0"), T("1"), T(""), T("ab", step=2))
    for tensor, (start, end) in itertools.product(tensors, bounds):
        yield call(tensor, 0, start, end)
        yield call(tensor, -1, start, end, 2)
    yield from (call(T("ab"), axis, 0, 1, step) for axis in (0, 1, 2, -2) for step in (0, -1, 3))
    yield call(T("ab"))


def selected() -> Calls:
    for tensor, axis in itertools.product(ALONE, (0, -1, 1, 3)):
        for index in (0, -1, 1, 2, 9, -4, S("a", -1), S("b", -1)):
            yield call(tensor, axis, index)


def strided() -> Calls:
    for tensor in ALONE:
        yield from (call(tensor, [2, 2], [1, 2]), call(tensor, [S("a"), 2], [2, 1], 1))
        yield from (call(tensor, [2], [-1]), call(tensor, [-1], [1]), call(tensor, [2, 2], [1]))
        yield call(tensor, [S("a"), S("b")], [S("b"), 1], S("a"))


def joined() -> Calls:
    for one, other in PAIRS:
        yield from (call([one, other], axis) for axis in (0, 1, -1, 2))
    for a, b in itertools.product(DTYPES, DTYPES):
        yield from (call([T("45", a), T("45", b)]), call([T("0", a), T("45", b)], 1))
        yield call([T("0", a), T("0", b)])
    last, rows = T("a3bc", order="0231"), T("a3bc")
    for tensors in ((last, last), (last, rows), (rows, last), (T("0"), last), (last, T("0"), last)):
        yield from (call(list(tensors), axis) for axis in (0, 1, 2))
    yield from (call([]), call([T("")]), call([T(""), T("a")]), call([T("ab", order="10")]))
    yield from (call([T("ab"), T("a0")], 1), call([T("a0"), T("a0")], 0), call([T("a")] * 3))
    yield from (call([T("a1bc", order="0231")], 1), call([T("a111", step=3), T("a111")], 1))
    yield from (call([T("ab"), T("a0")], 0), call([T("2b"), T("3b")], 0), call([T("ab")], 0))


def split() -> Calls:
    for tensor, size in itertools.product((*ALONE, T("6b"), T("7")), (1, 2, 3, 7, 0, -1, S("a"))):
        yield from (call(tensor, size), call(tensor, size, -1))


def parted() -> Calls:
    for tensor, sizes in itertools.product(
        (*ALONE, T("6b"), T("b6"), T("a")), ([3, 3], [6], [0, 4, 2], [1, 2], [4], [-1, 7], [S("a")])
    ):
        yield from (call(tensor, list(sizes)), call(tensor, list(sizes), -1))


def repeated() -> Calls:
    counts = ([2, 1], [1, 1], [S("c"), 2], [1, 2, 3], [0, 1], [3], [-1, 1], [1, 1, 1, 2])
    yield from (call(tensor, list(each)) for tensor in ALONE for each in counts)
    yield from (call(T("45", dtype), [1, 2]) for dtype in DTYPES)


def repeated_in_a_row() -> Calls:
    for tensor, count in itertools.product(ALONE, (1, 2, 0, -1, S("c"))):
        yield from (call(tensor, count, axis) for axis in (0, -1, None, 1))
        yield call(tensor, count, 0, output_size=8)
    yield from (call(T("45", dtype), 2, 1) for dtype in DTYPES)


def padded() -> Calls:
    widths = ([1, 2], [0, 1, 2, 0], [0, 0], [0, 0, 1, 0], [-1, 2], [-1, -1], [S("a"), 0], [1], [])
    for tensor, each in itertools.product(ALONE, widths):
        yield from (call(tensor, list(each)), call(tensor, list(each), "constant", 1.5))
    yield from (call(T("45", dtype), [1, 2], "constant", n) for dtype in DTYPES for n in (None, 2))
    yield from (call(T("a45"), [1, 2], mode) for mode in ("reflect", "replicate", "circular"))
    yield from (call(T("0"), [1, 0]), call(T("a3bc"), [0, 1, 0, 1, 1, 1, 0, 2]))


def chunked() -> Calls:
    for tensor, count in itertools.product((*ALONE, T("6b"), T("7")), (1, 2, 3, 7, 0, -1)):
        yield from (call(tensor, count), call(tensor, count, -1), call(tensor, count, 1))


def flattened() -> Calls:
    tensors = (*ALONE, T("ab4", order="102"), T("4ab", order="120"))
    for tensor, (first, last) in itertools.product(
        tensors, ((0, -1), (1, -1), (0, 1), (-2, -1), (1, 2), (1, 1), (2, 1), (0, 5))
    ):
        yield call(tensor, first, last)


def sampled() -> Calls:
    for dtype in DTYPES:
        for mode in (0, 2):
            for x, grid in (("a3bc", "abc2"), ("a3bc", "a542"), ("2abc", "2cb2")):
                yield (T(x, dtype), T(grid, dtype), mode, 0, False), {}
    yield (T("a3bc", order="0231"), T("abc2"), 0, 1, True), {}
    yield (T("a3bc"), T("abc2", order="0312"), 0, 1, True), {}
    yield (T("a3bc"), T("abc2", D), 0, 0, False), {}
    yield (T("a3bc"), T("bbc2"), 0, 0, False), {}
    yield (T("a3bc"), T("abc3"), 0, 0, False), {}


def unshuffled() -> Calls:
    for dtype in DTYPES:
        yield call(T("a468", dtype), 2)
    # PyTorch raises where a dynamic size is no multiple, and so does the model.
    yield from (call(T(shape), 1) for shape in ("a46b", "ab8c", "46b", "2a4bc", "04bc"))
    tensors = (
        *(T("ab66"), T("466"), T("2a466"), T("a499"), T("a411"), T("a466", order="0231")),
        *(T("a466", step=2), T("1466", spread="0"), T("0466"), T("66")),
    )
    for tensor, factor in itertools.product(tensors, (2, 3)):
        yield call(tensor, factor)
