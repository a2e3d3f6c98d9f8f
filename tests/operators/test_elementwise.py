"""Elementwise functions on NaN, infinities, signed zeros, empty and 0-d tensors."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import sardonyx
from tests.operators.check import Case, check, check_together, table
from tests.operators.inputs import (
    INF,
    NAN,
    bools,
    complexes,
    extremes,
    floats,
    ints,
    of,
    pairs_of_specials,
    positive,
    scalar,
    specials,
)

UNARY = [
    torch.abs, torch.neg, torch.sign, torch.sgn, torch.ceil, torch.floor, torch.round,
    torch.trunc, torch.frac, torch.sqrt, torch.rsqrt, torch.reciprocal, torch.square,
    torch.exp, torch.exp2, torch.expm1, torch.log, torch.log2, torch.log10, torch.log1p,
    torch.sin, torch.cos, torch.tan, torch.asin, torch.acos, torch.atan,
    torch.sinh, torch.cosh, torch.tanh, torch.asinh, torch.acosh, torch.atanh,
    torch.sigmoid, torch.erf, torch.erfc, torch.erfinv, torch.sinc, torch.logit,
    torch.isnan, torch.isinf, torch.isfinite, torch.isposinf, torch.isneginf, torch.signbit,
    torch.deg2rad, torch.rad2deg, torch.nan_to_num, torch.positive, torch.lgamma, torch.digamma,
    torch.logical_not, torch.angle, torch.isreal,
]  # fmt: skip
BINARY = [
    torch.add, torch.sub, torch.mul, torch.div, torch.floor_divide, torch.fmod, torch.remainder,
    torch.pow, torch.atan2, torch.maximum, torch.minimum, torch.fmax, torch.fmin, torch.hypot,
    torch.copysign, torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge, torch.xlogy,
    torch.logaddexp, torch.logaddexp2, torch.heaviside, torch.logical_and, torch.logical_or,
    torch.logical_xor, torch.float_power, torch.nextafter, torch.isclose,
]  # fmt: skip
FLOATING = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


def each(functions: list, *inputs: torch.Tensor) -> list[tuple]:  # type: ignore[type-arg]
    return [(function, *inputs) for function in functions]


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_unary(function: Callable[..., torch.Tensor]) -> None:
    inputs = [specials(dtype) for dtype in FLOATING]
    inputs += [positive(*shape) for shape in [(), (0,), (2, 0, 3), (1,)]]
    integers = [of(0, 1, 2, 5).to(d) for d in (torch.int64, torch.uint8, torch.bool)]
    inputs += [x for x in integers if eager_takes(function, x)]
    check_together([Case(function, (x,), dynamic=False) for x in inputs])


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_binary(function: Callable[..., torch.Tensor]) -> None:
    pairs = [pairs_of_specials(d) for d in (torch.float32, torch.float64, torch.float16)]
    pairs += [
        (positive(*left, seed=0), positive(*right, seed=1))
        for left, right in [
            ((), ()), ((), (3,)), ((0,), (1,)), ((2, 1, 3), (4, 1)), ((1, 0), (3, 1))
        ]
    ]  # fmt: skip
    taken = [pair for pair in pairs if eager_takes(function, *pair)]
    check_together([Case(function, pair, dynamic=False) for pair in taken])


def eager_takes(function: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> bool:
    try:
        function(*inputs)
    except RuntimeError:
        return False
    return True


@table(
    (lambda x: torch.clamp(x, -1, 1), specials()),
    (lambda x: torch.clamp(x, min=0), specials()),
    (lambda x: torch.clamp(x, max=0.25), specials()),
    (lambda x: torch.clamp(x, 2, 1), floats(4)),
    (lambda x: torch.clamp(x, min=NAN), floats(4)),
    (lambda x: torch.clamp(x, -INF, INF), specials()),
    (lambda x, a, b: torch.clamp(x, a, b), floats(3, 4), floats(4), floats(3, 1)),
    (lambda x, a: torch.clamp(x, min=a), specials(), of(NAN, dtype=torch.float32)),
    (lambda x: torch.clamp(x, -2, 3), ints(4, 5)),
    (lambda x: torch.clamp(x, -1.5, 2.5), ints(4, 5)),
    (lambda x: torch.clamp(x, 1, 200), of(0, 5, 255, dtype=torch.uint8)),
    (lambda x: x.clamp_min(0.5), specials()),
    (lambda x: x.clamp_max(0), ints(6)),
    (lambda x: torch.nan_to_num(x, 1.0, 2.0, -3.0), specials()),
    (lambda x: torch.nan_to_num(x), specials(torch.float64)),
    (lambda x: torch.nan_to_num(x), specials(torch.float16)),
    (lambda x: torch.nan_to_num(x, nan=7.0), ints(3)),
    (lambda x: torch.round(x), of(0.5, 1.5, 2.5, -0.5, -1.5, 3.49, -3.51)),
    (lambda x: torch.round(x, decimals=2), floats(5) * 100),
    (lambda x: torch.round(x, decimals=-1), floats(5) * 100),
    (lambda x: torch.frexp(x), of(0.0, 1.0, -3.5, 1024.0, 1e-3)),
    (lambda x: torch.ldexp(x, torch.tensor([3])), floats(4)),
    (lambda x, y: torch.ldexp(x, y), floats(4), ints(4)),
    (lambda x, y: torch.lerp(x, y, 0.3), floats(3, 4), floats(4)),
    (lambda x, y, w: torch.lerp(x, y, w), floats(3), floats(3, seed=9), floats(3, seed=8)),
    (lambda x, y, z: torch.addcmul(x, y, z, value=0.5), floats(3, 4), floats(4), floats(3, 1)),
    (lambda x, y, z: torch.addcdiv(x, y, z, value=-2), floats(3, 4), floats(4), positive(3, 1)),
    (lambda x, y, z: torch.addcmul(x, y, z, value=3), ints(3, 4), ints(4), ints(3, 1)),
    (lambda x, y: torch.add(x, y, alpha=2.5), floats(3), floats(3, seed=6)),
    (lambda x, y: torch.add(x, y, alpha=3), ints(3), ints(3, seed=6)),
    (lambda x, y: torch.sub(x, y, alpha=-2), ints(3), ints(3, seed=6)),
    (lambda x: torch.rsub(x, 5, alpha=2), floats(3)),
    (lambda x, y: torch.rsub(x, y, alpha=2), ints(3), ints(3, seed=6)),
    (lambda x: 5 - x, ints(3)),
    (lambda x: 1 / x, specials()),
    (lambda x: 2**x, floats(4)),
    (lambda x: 2**x, of(0, 1, 2, 10)),
    (lambda x: x**2, specials()),
    (lambda x: x**0.5, specials()),
    (lambda x: x**-1, specials()),
    (lambda x: x**0, specials()),
    (lambda x: x**3, ints(5)),
    (lambda x: x**-0.5, positive(5)),
    (lambda x: (-2.0) ** x, ints(5)),
    (lambda x: 0.0**x, specials()),
    (lambda x: 1**x, specials()),
    (lambda x, y: x**y, ints(5), of(0, 1, 2, 3, 4)),
    (lambda x, y: torch.where(x > y, x, y), floats(3, 1), floats(4)),
    (lambda x: torch.where(x > 0, x, 0.0), floats(4)),
    (lambda x: torch.where(x > 0, 1, 0), floats(4)),
    (lambda x: torch.where(x > 0, 1.5, x), ints(4)),
    (lambda x: torch.where(x, 2, 3.5), bools(4)),
    (lambda c, x, y: torch.where(c, x, y), bools(3), ints(3), floats(3)),
    (lambda c, x: torch.where(c, x, torch.nan), bools(3), floats(2, 3)),
    (lambda x: torch.threshold(x, 0.1, 20), specials()),
    (lambda x, y: torch.isclose(x, y, equal_nan=True), *pairs_of_specials()),
    (lambda x, y: torch.isclose(x, y, rtol=0.5, atol=0.1), floats(5), floats(5, seed=8)),
    (lambda x, y: torch.heaviside(x, y), specials(), scalar(0.5)),
    (lambda x: torch.logit(x, eps=0.2), of(0.0, 0.1, 0.5, 0.9, 1.0)),
    (lambda x: torch.xlogy(x, 2.0), specials()),
    (lambda x: torch.xlogy(0, x), specials()),
    (lambda x: torch.special.xlog1py(x, x), specials()),
    (lambda x: torch.special.entr(x), specials()),
    (lambda x: torch.special.log_ndtr(x), specials()),
    (lambda x: torch.special.ndtr(x), specials()),
    (lambda x: torch.special.ndtri(x), of(0.0, 0.1, 0.5, 0.99, 1.0)),
    (lambda x: torch.special.i0(x), specials()),
    (lambda x: torch.special.i1e(x), floats(5)),
    (lambda x: torch.special.erfcx(x), floats(5)),
    (lambda x: torch.special.zeta(x, 2.0), positive(5) + 1.5),
    (lambda x: torch.polygamma(2, x), positive(5)),
    (lambda x: torch.mvlgamma(x, 2), positive(5) + 2),
    (lambda x, y: torch.igamma(x, y), positive(5), positive(5, seed=9)),
    (lambda x, y: torch.igammac(x, y), positive(5), positive(5, seed=9)),
    (lambda x: torch.abs(x), complexes(3)),
    (lambda x: abs(x), extremes(torch.int8)),
    (lambda x: -x, extremes(torch.int64)),
    (lambda x: torch.ops.aten._neg_view_copy(x), floats(3, 4)),
    (lambda x: x.sign(), of(0, 3, 255, dtype=torch.uint8)),
    (lambda x: x.sign(), of(NAN, 0.0, -0.0, INF)),
)
def test_elementwise(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    ("function", "ops"),
    [
        (lambda x: x.clamp(-0.5, 1), ["Clip"]),
        (lambda x: x.clamp(min=0.5), ["Max"]),
        (lambda x: x.clamp(max=0.5), ["Min"]),
        (lambda x: x.clamp(-0.5, NAN), ["Max", "Min"]),
    ],
)
def test_a_clamp_has_no_more_nodes_than_bounds(function, ops):
    class Clamps(torch.nn.Module):
        def forward(self, x):
            return function(x)

    made = sardonyx.export(Clamps(), (specials(),))
    assert [node.op_type for node in made.model_proto.graph.node] == ops
