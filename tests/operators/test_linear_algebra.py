"""Linear systems, factorizations and what follows from them."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

from typing import Any

import pytest
import torch

import sardonyx
from tests.operators.check import Call, Case, check, exporter, table, uncapturable
from tests.operators.inputs import complexes, floats, of
from tests.opinfo.capture import capture_module
from tests.opinfo.exporter import Refused
from tests.opinfo.rules import scaled

A = floats(4, 4)
B = floats(2, 3, 5, 5, seed=7)
Z = complexes(2, 4, 4)
D = floats(2, 5, 5, dtype=torch.float64)
TALL, WIDE = floats(2, 5, 3), floats(2, 3, 5, seed=8)
PIVOTED = of([0.0, 2.0], [1.0, 3.0])
LOW_RANK = floats(5, 2) @ floats(2, 4, seed=9)

REFLECTIONS = torch.geqrf(TALL)


def definite(x: torch.Tensor) -> torch.Tensor:
    return x @ x.mH + torch.eye(x.shape[-1], dtype=x.dtype)


def regular(x: torch.Tensor) -> torch.Tensor:
    """With an inverse at any size."""
    return x + 4 * torch.eye(x.shape[-1], dtype=x.dtype)


def magnitudes(*parts: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Of vectors that are unique up to their sign or phase."""
    return tuple(part.abs() for part in parts)


@table(
    (lambda a: torch.linalg.det(a), A),
    (lambda a: torch.linalg.det(a), B),
    (lambda a: torch.linalg.det(a), Z),
    (lambda a: torch.linalg.det(a), floats(3, 3)),
    (lambda a: torch.linalg.det(a), complexes(2, 2)),
    (lambda a: torch.linalg.det(a), floats(2, 0, 0)),
    (lambda a: torch.linalg.det(a), of([1.0, 2.0], [2.0, 4.0])),
    (lambda a: torch.linalg.slogdet(a), B),
    (lambda a: torch.linalg.slogdet(regular(a)), Z),
    (lambda a: torch.linalg.slogdet(a), torch.zeros(3, 3)),
    (lambda a: torch.logdet(a), B),
    (lambda a: torch.logdet(a), floats(3, 0, 0)),
    (lambda a: torch.linalg.inv(a), A),
    (lambda a: torch.linalg.inv(a), D),
    (lambda a: torch.linalg.inv(regular(a)), Z),
    (lambda a: torch.linalg.inv(a), PIVOTED),
    (lambda a: torch.linalg.inv(a), floats(0, 3, 3)),
    (lambda a: torch.linalg.inv(a), floats(2, 0, 0)),
    (lambda a: torch.linalg.inv_ex(a), B),
    (lambda a: torch.linalg.inv_ex(a), floats(0, 0)),
    (lambda a, b: torch.linalg.solve(a, b), floats(0, 4, 4), floats(0, 4, 2)),
    (lambda a, b: torch.linalg.solve(a, b), A, floats(4, 0)),
    (lambda a, b: torch.linalg.solve(a, b), A, floats(4, 2)),
    (lambda a, b: torch.linalg.solve(a, b), A, floats(4)),
    (lambda a, b: torch.linalg.solve(a, b), B, floats(2, 3, 5)),
    (lambda a, b: torch.linalg.solve(a, b), B, floats(5, 2)),
    (lambda a, b: torch.linalg.solve(a, b, left=False), A, floats(2, 4)),
    (lambda a, b: torch.linalg.solve(regular(a), b), Z, complexes(2, 4, 3)),
    (lambda a, b: torch.linalg.solve_triangular(a.triu(), b, upper=True), A, floats(4, 2)),
    (
        lambda a, b: torch.linalg.solve_triangular(
            a.tril(), b, upper=False, left=False, unitriangular=True
        ),
        A,
        floats(2, 4),
    ),
    (lambda a, b: torch.triangular_solve(b, a, transpose=True), A, floats(4, 2)),
    (lambda a: torch.linalg.lu_factor(a), B),
    (lambda a: torch.linalg.lu_factor(a), TALL),
    (lambda a: torch.linalg.lu_factor(a), WIDE),
    (lambda a: torch.linalg.lu_factor(a), Z),
    (lambda a: torch.linalg.lu_factor_ex(a), torch.zeros(2, 2)),
    (lambda a: torch.linalg.lu(a), TALL),
    (lambda a: torch.linalg.lu(a), WIDE),
    (lambda a: torch.lu_unpack(*torch.linalg.lu_factor(a)), B),
    (lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b), A, floats(4, 2)),
    (
        lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(regular(a)), b, adjoint=True),
        Z,
        complexes(2, 4, 3),
    ),
    (
        lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, left=False, adjoint=True),
        A,
        floats(2, 4),
    ),
    (lambda a: torch.linalg.tensorinv(a, ind=1), floats(6, 2, 3)),
    (lambda a, b: torch.linalg.tensorsolve(a, b), floats(2, 3, 6), floats(2, 3)),
    (lambda a: torch.linalg.cholesky(a), definite(B)),
    (lambda a: torch.linalg.cholesky(definite(a)), Z),
    (lambda a: torch.linalg.cholesky(definite(a), upper=True), Z),
    (lambda a: torch.linalg.cholesky_ex(a).info, of([1.0, 2.0], [2.0, 1.0])),
    (lambda a, b: torch.cholesky_solve(b, a.tril()), A, floats(4, 2)),
    (lambda a, b: torch.cholesky_solve(b, a, upper=True), definite(Z), complexes(2, 4, 3)),
    (lambda a: torch.cholesky_inverse(a.tril()), definite(A)),
)
def test_systems(case: Case) -> None:
    check(case, scaled)


@table(
    (lambda a: torch.linalg.qr(a), TALL),
    (lambda a: torch.linalg.qr(a), WIDE),
    (lambda a: torch.linalg.qr(a, mode="complete"), TALL),
    (lambda a: torch.linalg.qr(a, mode="r").R, TALL),
    (lambda a: torch.linalg.qr(regular(a)), Z),
    (lambda a: torch.linalg.qr(a), D),
    uncapturable("UnsupportedOperatorException: aten.geqrf", lambda a: torch.geqrf(a), TALL),
    uncapturable("UnsupportedOperatorException: aten.geqrf", lambda a: torch.geqrf(a), Z),
    (lambda h, tau: torch.linalg.householder_product(h, tau), *REFLECTIONS),
    (lambda h, tau, c: torch.ormqr(h, tau, c), *REFLECTIONS, floats(2, 5, 4)),
    (
        lambda h, tau, c: torch.ormqr(h, tau, c, left=False, transpose=True),
        *torch.geqrf(Z),
        Z,
    ),
    (lambda a: torch.linalg.eigvalsh(a), B),
    (lambda a: torch.linalg.eigvalsh(a, UPLO="U"), Z),
    (lambda a: torch.linalg.eigvalsh(a), torch.eye(5)),
    (lambda a: torch.linalg.eigvalsh(a), floats(1, 1)),
    (lambda a: magnitudes(*torch.linalg.eigh(a)), D),
    (lambda a: torch.linalg.svdvals(a), TALL),
    (lambda a: torch.linalg.svdvals(a), WIDE),
    (lambda a: torch.linalg.svdvals(a), Z),
    (lambda a: torch.linalg.svdvals(a), LOW_RANK),
    (lambda a: torch.linalg.svdvals(a), torch.zeros(3, 2)),
    (lambda a: magnitudes(*torch.linalg.svd(a, full_matrices=False)), D),
    (lambda a: magnitudes(*torch.linalg.svd(a, full_matrices=False)), TALL),
    (lambda a: magnitudes(*torch.linalg.svd(a, full_matrices=False)), Z),
    (lambda a: torch.linalg.svd(a)[0].mH @ torch.linalg.svd(a)[0], TALL),
    (lambda a: torch.linalg.pinv(a), TALL),
    (lambda a: torch.linalg.pinv(a), WIDE),
    (lambda a: torch.linalg.pinv(a), Z),
    (lambda a: torch.linalg.pinv(a), LOW_RANK),
    (lambda a: torch.linalg.pinv(a, rtol=0.3), A),
    (lambda a: torch.linalg.pinv(a, hermitian=True), A),
    (lambda a: torch.linalg.matrix_rank(a), LOW_RANK),
    (lambda a: torch.linalg.matrix_rank(a), TALL),
    (lambda a: torch.linalg.matrix_rank(a, atol=1.0, rtol=0.0), A),
    (lambda a: torch.linalg.matrix_exp(a), B),
    (lambda a: torch.linalg.matrix_exp(a), Z * 5),
    (lambda a: torch.linalg.matrix_exp(a), torch.zeros(2, 2)),
    (lambda a: torch.linalg.matrix_power(a, 5), A),
    (lambda a: torch.linalg.matrix_power(a, 0), B),
    (lambda a: torch.linalg.matrix_power(regular(a), -2), Z),
    (lambda a: torch.linalg.cond(a), A),
    (lambda a: torch.linalg.cond(a, 1), B),
    uncapturable(
        "RuntimeError: Cannot call numel()",
        lambda a: torch.linalg.cond(a, "fro"),
        torch.zeros(2, 2),
    ),
    (lambda a: torch.linalg.cond(a, -2), TALL),
    (lambda a: torch.linalg.matrix_norm(a), B),
    (lambda a: torch.linalg.matrix_norm(a, "nuc"), TALL),
    (lambda a: torch.linalg.matrix_norm(a, 1, dim=(0, 2), keepdim=True), TALL),
    (lambda a: torch.linalg.matrix_norm(a, float("-inf")), Z),
    (lambda a: torch.linalg.matrix_norm(a, 2), Z),
    (lambda a: torch.linalg.norm(a), B),
    (lambda a: torch.linalg.norm(a, 3, dim=1), TALL),
    (lambda a: torch.linalg.norm(a, float("inf")), A),
    (lambda a: torch.norm(a, "nuc"), A),
    (lambda a, b, c: torch.linalg.multi_dot([a, b, c]), floats(4), A, floats(4, 2)),
    (lambda a, b: torch.linalg.vecdot(a, b), Z, Z.flip(0)),
    (lambda a: torch.trace(a), floats(3, 5)),
    (lambda a: torch.trace(a), complexes(3, 3)),
)
def test_factors(case: Case) -> None:
    check(case, scaled)


def test_a_refused_operator_keeps_its_reason_where_its_decomposition_is_no_program() -> None:
    captured = capture_module(Call(torch.linalg.ldl_factor), [A], dynamic=False)
    with pytest.raises(Refused, match="SX1301: LDL factors of indefinite matrices"):
        exporter().convert(captured, opset=0)


@pytest.mark.parametrize("driver", ["gelsy", "gels", "gelsd"])
@pytest.mark.parametrize("shapes", [((5, 3), (5, 2)), ((3, 5), (3, 2)), ((4, 5, 3), (4, 5))])
def test_least_squares_are_captured(driver: str, shapes: Any) -> None:
    class Solve(torch.nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return tuple(torch.linalg.lstsq(a, b, driver=driver))

    inputs = floats(*shapes[0]), floats(*shapes[1], seed=9)
    program = sardonyx.export(Solve(), inputs)
    for got, want in zip(program(*inputs), Solve()(*inputs), strict=True):
        torch.testing.assert_close(got, want, atol=1e-4, rtol=1e-4)
