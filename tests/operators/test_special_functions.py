"""Special functions on NaN, infinities, zeros, poles, and from small to large."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.operators.check import Case, check, check_together, table
from tests.operators.inputs import INF, NAN, floats, of, scalar, specials

special = torch.special
UNARY = [
    special.erf, special.erfc, special.erfcx, special.erfinv, special.ndtr, special.ndtri,
    special.log_ndtr, special.i0, special.i0e, special.i1, special.i1e, special.bessel_j0,
    special.bessel_j1, special.bessel_y0, special.bessel_y1, special.modified_bessel_i0,
    special.modified_bessel_i1, special.modified_bessel_k0, special.modified_bessel_k1,
    special.scaled_modified_bessel_k0, special.scaled_modified_bessel_k1,
    special.spherical_bessel_j0, special.airy_ai, special.gammaln, special.psi, special.expit,
    special.round,
]  # fmt: skip
POLYNOMIALS = [
    special.chebyshev_polynomial_t, special.chebyshev_polynomial_u,
    special.chebyshev_polynomial_v, special.chebyshev_polynomial_w,
    special.shifted_chebyshev_polynomial_t, special.shifted_chebyshev_polynomial_u,
    special.shifted_chebyshev_polynomial_v, special.shifted_chebyshev_polynomial_w,
    special.hermite_polynomial_h, special.hermite_polynomial_he,
    special.laguerre_polynomial_l, special.legendre_polynomial_p,
]  # fmt: skip
# Around where one formula takes over from another.
TURNS = [2.0, 2.01, 4.0, 4.01, 7.99, 8.0, 8.01, 10.0, 20.5, 50.0, -4.01, -8.5, -20.25, 1e-3]
Function = Callable[..., torch.Tensor]


def name_of(function: Function) -> str:
    return str(function.__name__)


@pytest.mark.parametrize("function", UNARY, ids=name_of)
def test_functions(function: Function) -> None:
    cases = []
    for dtype in (torch.float32, torch.float64):
        # Eager's own Ai(-2.5) is -0.11232484 in float64; Ai(-2.5) = -0.11232507 (mpmath).
        if function is special.airy_ai and dtype is torch.float64:
            continue
        turns, middle = of(*TURNS, dtype=dtype), torch.linspace(-3, 3, 13).to(dtype)
        x = torch.cat([specials(dtype), turns, middle])
        cases.append(Case(function, (x,), dynamic=False))
    check_together(cases)


def test_polynomials() -> None:
    x = of(-2.0, -1.0, -0.7, 0.0, 0.3, 1.0, 1.5, NAN).unsqueeze(1)
    degrees = of(-1.0, 0.0, 1.0, 2.0, 3.0, 5.0)
    check_together([Case(function, (x, degrees), dynamic=False) for function in POLYNOMIALS])


SHAPES = of(0.0, 0.1, 1.0, 5.0, 50.0, -1.0, INF, NAN, dtype=torch.float64).unsqueeze(1)
BOUNDS = of(0.0, 1e-3, 0.5, 2.0, 9.0, 52.0, 300.0, -1.0, INF, NAN, dtype=torch.float64)
ENDS = of(-INF, -2.5, -2.0, -0.0, 0.0, 0.5, 1.0, 2.0, 3.7, 50.0, INF, NAN)
UNIT = of(0.0, 1e-30, 1e-4, 0.1, 0.5, 0.9, 0.9999, 1.0, 2.0, -1.0, NAN)


@table(
    (torch.igamma, SHAPES, BOUNDS),
    (torch.igammac, SHAPES, BOUNDS),
    (torch.igamma, SHAPES.float(), BOUNDS.float()),
    (torch.special.zeta, of(1.0, 2.0, 3.5, 0.5, 10.0).unsqueeze(1), of(1.0, 0.5, 10.0, 0.0, -2.5)),
    (lambda x: torch.special.zeta(2.0, x), of(1.0, 7.0)),
    (torch.special.zeta, ENDS.unsqueeze(1), ENDS),
    (lambda x: torch.polygamma(1, x), of(INF, NAN, 3.0)),
    (lambda x: torch.polygamma(1, x), of(0.3, 2.0, 30.0, -0.5)),
    (lambda x: torch.polygamma(2, x), of(0.3, 2.0, 30.0)),
    (lambda x: torch.polygamma(0, x), of(0.3, 2.0, 30.0)),
    (lambda x: torch.mvlgamma(x, 3), of(1.5, 2.0, 30.0)),
    (torch.special.ndtri, UNIT),
    (torch.special.ndtri, UNIT.double()),
    (torch.erfinv, UNIT * 2 - 1),
    (lambda x: torch.special.hermite_polynomial_h(x, 3), floats(4)),
    (lambda n: torch.special.legendre_polynomial_p(0.3, n), of(0, 1, 4)),
    (lambda x: torch.special.legendre_polynomial_p(x, 3), floats(0)),
    (lambda x: torch.special.zeta(x, 2.0), floats(0)),
    (lambda x: torch.igamma(x, x), floats(0)),
    (lambda x: torch.special.erfc(x), of(0, 1, 3)),
    (lambda x: torch.lgamma(x), floats(5, dtype=torch.float16)),
    (lambda x: torch.sign(torch.lgamma(x)), of(0.5, 1.0, 1.5, 2.0, 3.0)),
    (lambda x: x + torch.hann_window(5), scalar(0.0)),
    (lambda x: x + torch.hamming_window(6, periodic=False, alpha=0.5, beta=0.4), scalar(0.0)),
    (lambda x: x + torch.blackman_window(7, dtype=torch.float64), scalar(0.0).double()),
    (lambda x: x + torch.bartlett_window(6, periodic=False), scalar(0.0)),
    (lambda x: x + torch.kaiser_window(6, True, 8.0), scalar(0.0)),
    (lambda x: x + torch.kaiser_window(1), scalar(0.0)),
    (lambda x: torch.cat([x, torch.hann_window(0)]), floats(2)),
)
def test_forms(case: Case) -> None:
    check(case)
