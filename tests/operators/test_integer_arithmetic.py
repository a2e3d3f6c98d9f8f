"""Division, remainders, shifts and overflow of integers; and of floats where signs matter."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from tests.operators.check import Case, check, check_together, table
from tests.operators.inputs import (
    INF,
    NAN,
    bools,
    extremes,
    floats,
    ints,
    of,
)

INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
# Beyond 32 bits, or with the highest of the lower 32 set.
WIDE = of(0, 5, -5, 2**31, 2**31 + 1, 2**32 - 1, 2**32, -(2**31) - 1, -(2**40) - 2**31, 2**62)
WIDE = torch.cat([WIDE, of(2**63 - 1, -(2**63))])
DIVIDENDS = of(-7, -6, -1, 0, 1, 6, 7).unsqueeze(1)
DIVISORS = of(-3, -2, -1, 1, 2, 3).unsqueeze(0)

DIVISIONS = {
    "true": torch.div,
    "floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "floor_divide": torch.floor_divide,
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "gcd": torch.gcd,
    "lcm": torch.lcm,
}


@pytest.mark.parametrize("name", DIVISIONS)
def test_signs(name: str) -> None:
    pairs = [(DIVIDENDS.to(dtype), DIVISORS.to(dtype)) for dtype in INTEGERS if dtype.is_signed]
    pairs += [(DIVIDENDS.abs().to(torch.uint8), DIVISORS.abs().to(torch.uint8))]
    check_together([Case(DIVISIONS[name], pair, dynamic=False) for pair in pairs])


@pytest.mark.parametrize("name", [n for n in DIVISIONS if n not in ("gcd", "lcm")])
def test_signs_of_floats(name: str) -> None:
    x = of(-7.5, -6.0, -0.0, 0.0, 6.0, 7.5, INF, -INF, NAN).unsqueeze(1)
    y = of(-3.0, -2.5, 0.0, -0.0, 2.5, 3.0, INF, -INF, NAN).unsqueeze(0)
    dtypes = (torch.float32, torch.float64, torch.float16)
    check_together([Case(DIVISIONS[name], (x.to(d), y.to(d)), dynamic=False) for d in dtypes])


@table(
    (lambda x: x // 2, DIVIDENDS),
    (lambda x: x // -2, DIVIDENDS),
    (lambda x: x.argsort(0) // 2, DIVIDENDS),  # places are never below zero
    (lambda x: x.argsort(0).flatten()[1:] // -2, DIVIDENDS),
    (lambda x: torch.arange(x.shape[0]) // 3, DIVIDENDS),
    (lambda x: torch.arange(3, -x.shape[0], -1) // 3, DIVIDENDS),
    (lambda x: (torch.arange(x.shape[0]) - 3) // 2, DIVIDENDS),
    (lambda x: x // 2, extremes(torch.int64)),
    (lambda x: x % 3, DIVIDENDS),
    (lambda x: x % -3, DIVIDENDS),
    (lambda x: x / 2, DIVIDENDS),
    (lambda x: x / 4, extremes(torch.int64)),
    (lambda x: 7 // x, DIVISORS),
    (lambda x: 7 % x, DIVISORS),
    (lambda x: -7 % x, DIVISORS),
    (lambda x: x // 2.5, DIVIDENDS),
    (lambda x: x % 2.5, DIVIDENDS),
    (lambda x: torch.fmod(x, -2.5), DIVIDENDS),
    (lambda x: torch.fmod(x, 3), DIVIDENDS),
    (lambda x: torch.fmod(x, -3), of(2**53 + 1, -(2**53) - 1, 2**62 + 1)),
    (lambda x, y: x // y, floats(5), ints(5, low=1)),
    (lambda x: torch.div(x, 3, rounding_mode="floor"), ints(4, dtype=torch.int32)),
    (lambda x: torch.div(x, 2.5, rounding_mode="trunc"), DIVIDENDS),
    (lambda x: x + 1, extremes(torch.int8)),
    (lambda x: x + 1, extremes(torch.int64)),
    (lambda x: x + 1, extremes(torch.uint8)),
    (lambda x: x - 1, extremes(torch.uint8)),
    (lambda x: x * 3, extremes(torch.int16)),
    (lambda x: x * x, extremes(torch.int32)),
    (lambda x: -x, extremes(torch.uint8)),
    (lambda x: x << 2, of(-3, 0, 1, 5)),
    (lambda x: x >> 1, of(-7, -1, 0, 1, 6)),
    (lambda x: x >> 1, of(-7, -1, 0, 1, 6, dtype=torch.int8)),
    (lambda x: x >> 3, of(0, 9, 255, dtype=torch.uint8)),
    (lambda x: x << 3, of(0, 9, 255, dtype=torch.uint8)),
    (lambda x, y: x << y, of(1, 2, 3), of(0, 1, 60)),
    (lambda x, y: x >> y, of(-100, 100, 1 << 40), of(0, 3, 30)),
    (lambda x, y: torch.bitwise_left_shift(x, y), ints(3, dtype=torch.int32), of(1, 2, 3)),
    (lambda x, y: x & y, ints(4), ints(4, seed=9)),
    (lambda x, y: x | y, ints(4, dtype=torch.int16), ints(4, dtype=torch.int16, seed=9)),
    (lambda x, y: x ^ y, ints(4), ints(4, dtype=torch.int32, seed=9)),
    (lambda x, y: x & y, bools(4), bools(4, seed=9)),
    (lambda x, y: x | y, bools(4), ints(4)),
    (lambda x: x ^ True, bools(4)),
    (lambda x: ~x, bools(4)),
    (lambda x: ~x, extremes(torch.int32)),
    (lambda x: ~x, extremes(torch.uint8)),
    (lambda x: x & 6, ints(4)),
    (lambda x: x | 1, ints(4, dtype=torch.int8)),
    (lambda x: x ^ -1, extremes(torch.int64)),
    (lambda x: torch.bitwise_and(5, x), ints(4)),
    (lambda x: x.to(torch.int8), of(-129, 127, 128, 300)),
    (lambda x: x.to(torch.uint8), of(-1, 255, 256, 511)),
    (lambda x: x.to(torch.int32), of((1 << 31) + 5, -(1 << 33) + 1)),
    (lambda x: x.to(torch.int64), of(-1.9, 1.9, -0.5, 1e10)),
    (lambda x: x.to(torch.bool), of(0.0, -0.0, 0.1, NAN, INF)),
    (lambda x: x.to(torch.bool), of(0, 2, 256)),
    (lambda x: x.to(torch.float16), of(1e6, 65504.0, 1e-8, NAN)),
    (lambda x: x.to(torch.bfloat16), of(1.00390625, 3.0e38, 1e-40, INF)),
    (lambda x: x.to(torch.float32), extremes(torch.int64)),
    (lambda x: x.float(), bools(3)),
    (lambda x: x.double().int(), floats(4) * 5),
    (lambda x: torch.pow(x, 2), extremes(torch.int32)),
    (lambda x: torch.pow(x, 21), of(-7, -1, 0, 2, 3)),
    (lambda x: torch.pow(3, x), of(0, 1, 39, 40, 41, 63)),
    (lambda x: torch.pow(2, x), of(0, 7, 8, 200, dtype=torch.uint8)),
    (lambda x, y: torch.pow(x, y), of(-3, -1, 0, 1, 2).unsqueeze(1), of(-3, -2, 0, 1, 35, 63)),
    (lambda x, y: torch.pow(x, y), of(-7, 3, 6).unsqueeze(1), of(64, 127, 1000, 2**62, 2**63 - 1)),
    (lambda x, y: torch.pow(x, y), of(7, -5, dtype=torch.int16), of(127, 20001, dtype=torch.int16)),
    (lambda x: torch.pow(3, x), of(64, 99, 2**40 + 1, 5, 0)),
    (lambda x, y: torch.pow(x, y), ints(0, 3), ints(0, 3)),
    (lambda x: torch.square(x), ints(4, dtype=torch.int8)),
    (lambda x, y: torch.maximum(x, y), extremes(torch.int64), extremes(torch.int64).flip(0)),
    (lambda x: torch.maximum(x.unsqueeze(0), x.unsqueeze(1)), WIDE),
    (lambda x: torch.minimum(x.unsqueeze(0), x.unsqueeze(1)), WIDE),
    (lambda x: torch.fmax(x.unsqueeze(0), x.unsqueeze(1)), WIDE),
    (lambda x: x.clamp(-5, 5), WIDE),
    (lambda x: (torch.relu(x), F.relu6(x), F.hardtanh(x, -4, 9)), WIDE),
    (lambda x: x.clamp(min=2**32), WIDE),
    (lambda x: x.sign(), WIDE),
    (lambda x: (x.max(), x.min(), x.amax(0), x.aminmax()), WIDE),
    (lambda x: (x.amax(1), x.amin((0, 2)), x.amin(1, keepdim=True)), WIDE.reshape(2, 2, 3)),
    (lambda x: (x.sum(), x.sum(-1), x.sum((0, 1), keepdim=True)), WIDE.reshape(2, 2, 3)),
    (lambda x: (x.sum(1, keepdim=True), x.sum((0, 2)), x.sum(())), WIDE.reshape(2, 2, 3)),
    (lambda x: (x.sum(), x.sum(0), x.sum(1, keepdim=True)), ints(0, 3)),
    (lambda x: (x.prod(), x.prod(0), x.prod(1, keepdim=True)), ints(4, 30, low=-9, high=10) | 1),
    (lambda x: (x.prod(0), x.prod(1), x.prod()), ints(3, 0)),
    (lambda x: (x // 3, x // -7, -5 // (x | 1)), extremes(torch.int64)),
    (lambda x: (x // 3, x // -7), extremes(torch.int32)),
    (lambda x, y: x // y, extremes(torch.int8).unsqueeze(1), of(3, -7, 100, dtype=torch.int8)),
    (lambda x, y: x == y, extremes(torch.int64), extremes(torch.int64) - 1),
    (lambda x, y: x < y, of((1 << 53) + 1), of(1 << 53)),
    (lambda x: x > 2.5, ints(5)),
    (lambda x: x >= -1, of(0, 3, 255, dtype=torch.uint8)),
    (lambda x: x == 3.0, ints(5)),
)
def test_integers(case: Case) -> None:
    check(case)
