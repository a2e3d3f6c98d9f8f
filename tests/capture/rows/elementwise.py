"""Calls of elementwise operators, of types, and of new tensors."""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch

from .said import ALONE, DTYPES, INT, NUMBERS, PAIRS, B, C, Calls, F, S, T, call, typed


def unary() -> Calls:
    yield from (call(tensor) for tensor in ALONE)
    yield from (call(typed(each, dtype)) for dtype in DTYPES for each in (T(), T("")))


def clamped() -> Calls:
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        yield from (call(T("45", dtype), number), call(T("", dtype), number))
    yield from (call(tensor, 0.5) for tensor in ALONE)


def clamped_twice() -> Calls:
    yield from clamped()
    for dtype, low, high in itertools.product(DTYPES, (*NUMBERS, None), (2, 2.5, None)):
        yield call(T("4", dtype), low, high)


def with_numbers() -> Calls:
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        yield from (call(T("45", dtype), number), call(T("", dtype), number))
    yield from (call(tensor, 2) for tensor in ALONE)


def of_tensors() -> Calls:
    yield from itertools.starmap(call, PAIRS)
    for a, b in itertools.product(DTYPES, DTYPES):
        for one, other in (("45", "45"), ("45", ""), ("", "45"), ("", ""), ("4", "1")):
            yield call(T(one, a), T(other, b))


def binary() -> Calls:
    yield from of_tensors()
    yield from with_numbers()


def sums() -> Calls:
    yield from binary()
    for dtype, alpha in itertools.product(DTYPES, NUMBERS):
        yield call(T("45", dtype), T("5", dtype), alpha=alpha)
        yield call(T("45", dtype), 2, alpha=alpha)


def chosen() -> Calls:
    mask = T("45", B)
    for one, other in PAIRS:
        yield call(typed(one, B), one, other)
        yield call(typed(other, B), one, other)
    for a, b in itertools.product(DTYPES, DTYPES):
        for one, other in (("45", "45"), ("45", ""), ("", "")):
            yield call(mask, T(one, a), T(other, b))
    yield from (call(T("45", dtype), T(), T()) for dtype in DTYPES)


def chosen_number() -> Calls:
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        for sizes in ("45", ""):
            yield call(T("45", B), T(sizes, dtype), number)
    yield from (call(T("45", dtype), T(), 0.0) for dtype in DTYPES)


def number_chosen() -> Calls:
    for (mask, tensor, number), _ in chosen_number():
        yield call(mask, number, tensor)


def filled_where() -> Calls:
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        yield call(T("45", dtype), T("5", B), number)
    yield from (call(T("45"), T("45", dtype), 0.0) for dtype in DTYPES)
    yield from (call(one, typed(other, B), 0.0) for one, other in PAIRS)
    yield from (call(T(""), T("ab", B), 0.0), call(T("b"), T("ab", B), 0.0))


def to_dtype() -> Calls:
    for a, b in itertools.product(DTYPES, DTYPES):
        yield call(T("45", a), b)
    for tensor, dtype in itertools.product(ALONE, (F, torch.float64)):
        yield from (call(tensor, dtype), call(tensor, dtype, False, True))
        for layout in (torch.contiguous_format, torch.preserve_format, torch.channels_last):
            yield call(tensor, dtype, False, False, layout)


def to_layout() -> Calls:
    for (tensor, dtype, *others), _ in to_dtype():
        named = dict(zip(("non_blocking", "copy", "memory_format"), others, strict=False))
        yield call(tensor, dtype=dtype, **named)
        yield call(tensor, device=torch.device("cpu"), **named)
    yield call(T(), layout=torch.strided)


def to_device() -> Calls:
    for (tensor, *others), _ in to_dtype():
        yield call(tensor, torch.device("cpu"), *others)


def type_as() -> Calls:
    for a, b in itertools.product(DTYPES, DTYPES):
        yield from (call(T("45", a), T("5", b)), call(T("45", a, "10"), T("", b)))


_OPTIONS: tuple[dict[str, Any], ...] = (
    *({"dtype": dtype} for dtype in (*DTYPES, None)),
    *({"device": torch.device("cpu")}, {"layout": torch.strided}, {"pin_memory": False}, {}),
)


def new() -> Calls:
    for options in _OPTIONS:
        for dtype in DTYPES:
            yield call(T("45", dtype), [2, 3], **options)
    yield from (call(T("ab"), sizes) for sizes in ([], [0, 3], [S("ab"), 1], [-1]))


def new_full() -> Calls:
    for (*args,), kwargs in new():
        yield from (call(*args, number, **kwargs) for number in NUMBERS)


def ranges() -> Calls:
    for options in _OPTIONS:
        yield from (call(end, **options) for end in (3, 0, 2.5, 3.0, True, S("a"), S("ab", 2)))
    yield from (call(-1), call(math.inf), call(1e30))


def ranges_from() -> Calls:
    for options in _OPTIONS:
        yield from (call(1, end, **options) for end in (4, 4.5, 1, S("a")))
        yield from (call(start, S("a", 2), **options) for start in (0, 1.0, S("a"), 2, -1))
    yield from (call(2, 1), call(0.5, 3), call(S("b"), S("a")), call(True, 3))


def filled() -> Calls:
    for options in _OPTIONS:
        yield from (call(sizes, **options) for sizes in ([], [2, 3], [S("a"), 1], [0, S("b")]))
    yield call([-1])


def full() -> Calls:
    for (sizes,), kwargs in filled():
        yield from (call(sizes, number, **kwargs) for number in (*NUMBERS, S("a")))


def like() -> Calls:
    yield from unary()
    for options in (*_OPTIONS, *({"memory_format": each} for each in _FORMATS)):
        for tensor in (T("45"), T("45", order="10"), T("45", INT), T("45", C)):
            yield call(tensor, **options)


_FORMATS = (torch.preserve_format, torch.contiguous_format, torch.channels_last)


def full_like() -> Calls:
    for (tensor,), kwargs in like():
        yield from (call(tensor, number, **kwargs) for number in (True, 2.5, 1 + 2j))


def running() -> Calls:
    for tensor, axis in itertools.product(ALONE, (0, -1, 2, -6)):
        yield call(tensor, axis)
    for a, b in itertools.product(DTYPES, (*DTYPES, None)):
        yield from (call(T("45", a), 0, dtype=b), call(T("", a), 0, dtype=b))
