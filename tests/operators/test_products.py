"""Matrix products of every rank, with empty sizes, integers, alpha and beta; linear algebra."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import torch
import torch.nn.functional as F

import sardonyx
from tests.operators.check import Case, check, table
from tests.operators.inputs import INF, NAN, bools, complexes, floats, ints, of
from tests.opinfo.rules import scaled

A = floats(3, 4)
B = floats(4, 5, seed=9)
SQUARE = floats(3, 3) + 3 * torch.eye(3)
POSITIVE = SQUARE @ SQUARE.T


@table(
    (lambda x, y: x @ y, floats(4), floats(4, seed=9)),
    (lambda x, y: x @ y, A, floats(4)),
    (lambda x, y: x @ y, floats(3), A),
    (lambda x, y: x @ y, A, B),
    (lambda x, y: x @ y, floats(2, 3, 4), B),
    (lambda x, y: x @ y, A, floats(2, 4, 5)),
    (lambda x, y: x @ y, floats(2, 3, 4), floats(4)),
    (lambda x, y: x @ y, floats(4), floats(2, 4, 5)),
    (lambda x, y: x @ y, floats(2, 1, 3, 4), floats(5, 4, 2)),
    (lambda x, y: x @ y, floats(3, 0), floats(0, 4)),
    (lambda x, y: x @ y, floats(0, 3), floats(3, 4)),
    (lambda x, y: (torch.exp(x), x @ y.mT, x[0] @ y.mT), floats(2, 3, 0), floats(2, 3, 0)),
    (lambda x, y: F.linear(x, y), floats(2, 3, 0), floats(4, 0)),
    (lambda x, y: x @ y, floats(2, 0, 3), floats(3, 4)),
    (lambda x, y: x @ y, ints(3, 4), ints(4, 2)),
    (lambda x, y: x @ y, ints(3, 4, dtype=torch.int8), ints(4, 2, dtype=torch.int8)),
    (lambda x, y: x @ y, ints(3, 4, dtype=torch.int32), ints(4, 2, dtype=torch.int32)),
    (lambda x, y: x @ y, of([1 << 40, 1], [3, 4]), of([1, 2], [1 << 20, 1])),
    (lambda x, y: x @ y, floats(3, 4, dtype=torch.float16), floats(4, 2, dtype=torch.float16)),
    (lambda x, y: x @ y, floats(3, 4, dtype=torch.bfloat16), floats(4, 2, dtype=torch.bfloat16)),
    (lambda x, y: x @ y, floats(3, 4, dtype=torch.float64), floats(4, 2, dtype=torch.float64)),
    (lambda x, y: x @ y, complexes(3, 4), complexes(4, 2)),
    (lambda x, y: x @ y, of([NAN, 1.0], [INF, 2.0]), of([0.0, 1.0], [1.0, 0.0])),
    (lambda x: x @ x.mT, floats(2, 3, 4)),
    (lambda x, y: torch.mm(x, y), A, B),
    (lambda x, y: torch.bmm(x, y), floats(2, 3, 4), floats(2, 4, 5)),
    (lambda x, y: torch.mv(x, y), A, floats(4)),
    (lambda x, y: torch.dot(x, y), floats(4), floats(4, seed=8)),
    (lambda x, y: torch.dot(x, y), ints(4), ints(4, seed=8)),
    (lambda x, y: torch.vdot(x, y), complexes(4), complexes(4, seed=8)),
    (lambda x, y: torch.outer(x, y), floats(3), floats(4)),
    (lambda x, y: torch.outer(x, y), ints(3), floats(4)),
    (lambda x, y: torch.inner(x, y), floats(2, 4), floats(3, 4)),
    (lambda x, y: torch.kron(x, y), floats(2, 3), floats(3, 2)),
    (lambda x, y: torch.tensordot(x, y, 1), A, B),
    (lambda x, y: torch.tensordot(x, y, ([0, 1], [1, 0])), floats(2, 3, 4), floats(3, 2)),
    (lambda c, x, y: torch.addmm(c, x, y), floats(5), A, B),
    (lambda c, x, y: torch.addmm(c, x, y, beta=0), floats(5) * NAN, A, B),
    (lambda c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=2), floats(3, 1), A, B),
    (lambda c, x, y: torch.addmm(c, x, y, alpha=0), floats(3, 5), A, B),
    (lambda c, x, y: torch.addmm(c, x, y, beta=2, alpha=3), ints(3, 2), ints(3, 4), ints(4, 2)),
    (lambda c, x, y: torch.addmv(c, x, y, beta=2, alpha=0.5), floats(3), A, floats(4)),
    (lambda c, x, y: torch.addr(c, x, y, beta=2, alpha=0.5), floats(3, 4), floats(3), floats(4)),
    (
        lambda c, x, y: torch.baddbmm(c, x, y, beta=2, alpha=0.5),
        floats(5),
        floats(2, 3, 4),
        floats(2, 4, 5),
    ),
    (lambda c, x, y: torch.addbmm(c, x, y, beta=2), floats(3, 5), floats(2, 3, 4), floats(2, 4, 5)),
    (lambda x, y, z: torch.linalg.multi_dot([x, y, z]), A, B, floats(5, 2)),
    (lambda x, w: F.linear(x, w), floats(2, 3), floats(4, 3)),
    (lambda x, w, b: F.linear(x, w, b), floats(2, 5, 3), floats(4, 3), floats(4)),
    (lambda x, w, b: F.linear(x, w, b), floats(3), floats(4, 3), floats(4)),
    (lambda x, w, b: F.linear(x, w, b), floats(2, 5, 3), floats(0, 3), floats(0)),
    (lambda x, w, b: F.linear(x, w, b), floats(3), floats(0, 3), floats(0)),
    (lambda x, w, b: F.linear(x, w, b), floats(2, 0), floats(4, 0), floats(4)),
    (
        lambda x, w, b: F.linear(x, w, b),
        floats(2, 3, dtype=torch.float16),
        floats(4, 3, dtype=torch.float16),
        floats(4, dtype=torch.float16),
    ),
    (lambda x, w, b: F.linear(x, w, b), ints(2, 3), ints(4, 3), ints(4)),
    (
        lambda x, y, w, b: F.bilinear(x, y, w, b),
        floats(2, 3),
        floats(2, 4),
        floats(5, 3, 4),
        floats(5),
    ),
    (lambda x, y: torch.einsum("ij,jk->ik", x, y), A, B),
    (lambda x, y: torch.einsum("bij,bjk->bik", x, y), floats(2, 3, 4), floats(2, 4, 5)),
    (lambda x: torch.einsum("ii->i", x), floats(3, 3)),
    (lambda x: torch.einsum("ii", x), floats(3, 3)),
    (lambda x: torch.einsum("ij->ji", x), A),
    (lambda x: torch.einsum("...ij->...", x), floats(2, 3, 4)),
    (lambda x, y: torch.einsum("i,j->ij", x, y), floats(3), floats(4)),
    (lambda x, y: torch.einsum("...ij,...jk->...ik", x, y), floats(2, 3, 4), floats(4, 5)),
    (lambda x, y: torch.einsum("...i,...i->...", x, y), floats(3, 1, 2), floats(3, 1)),
    (lambda x, y: torch.einsum("bij,bjk->bik", x, y), floats(2, 3, 4), floats(1, 1, 5)),
    (lambda x, y: torch.einsum("ii,i->i", x, y), floats(1, 1), floats(3)),
    (lambda x, y: torch.einsum("bhqd,bhkd->bhqk", x, y), floats(2, 2, 3, 4), floats(2, 2, 5, 4)),
    (lambda x, y: torch.einsum("ij,ij->", x, y), ints(3, 4), ints(3, 4, seed=9)),
    (lambda x, y, z: torch.einsum("i,ij,j->", x, y, z), floats(3), A, floats(4)),
    (lambda x, y: torch.linalg.cross(x, y), floats(2, 3), floats(2, 3, seed=9)),
    (lambda x, y: torch.linalg.cross(x, y, dim=0), floats(3, 4), floats(3, 4, seed=9)),
    (lambda x, y: torch.linalg.vecdot(x, y), floats(2, 3), floats(2, 3, seed=9)),
    (lambda x, y: torch.cdist(x, y), floats(3, 4), floats(5, 4, seed=9)),
    (lambda x, y: torch.cdist(x, y, 1.0), floats(2, 3, 4), floats(2, 5, 4, seed=9)),
    (lambda x, y: torch.cdist(x, y, INF), floats(3, 4), floats(5, 4, seed=9)),
    (lambda x, y: torch.cdist(x, y, 0.0), ints(3, 4).float(), ints(5, 4).float()),
    (lambda x, y: torch.cdist(x, y), floats(30, 4), floats(28, 4, seed=9)),
    (lambda x: F.pdist(x), floats(4, 3)),
    (lambda x, y: F.cosine_similarity(x, y), floats(2, 3), floats(2, 3, seed=9)),
    (lambda x, y: F.cosine_similarity(x, y, dim=0), floats(2, 3), torch.zeros(2, 3)),
    (lambda x, y: F.pairwise_distance(x, y, p=1, keepdim=True), floats(2, 3), floats(2, 3, seed=9)),
    (lambda x: torch.trace(x), floats(3, 4)),
    (lambda x: torch.trace(x), ints(3, 3, dtype=torch.int32)),
    (lambda x: torch.linalg.det(x), SQUARE),
    (lambda x: torch.linalg.det(x), floats(2, 4, 4)),
    (lambda x: torch.linalg.det(x), floats(1, 1)),
    (lambda x: torch.linalg.det(x), floats(0, 0)),
    (lambda x: torch.linalg.slogdet(x), floats(2, 3, 3)),
    (lambda x: torch.logdet(x), POSITIVE),
    (lambda x: torch.linalg.inv(x), SQUARE),
    (lambda x: torch.linalg.inv(x), floats(2, 3, 3) + 3 * torch.eye(3)),
    (lambda x: torch.inverse(x), floats(4, 4)),
    (lambda x: torch.linalg.inv(x), of([0.0, 1.0], [2.0, 0.0])),
    (lambda x, y: torch.linalg.solve(x, y), SQUARE, floats(3, 2)),
    (lambda x, y: torch.linalg.solve(x, y), SQUARE, floats(3)),
    (lambda x, y: torch.linalg.solve(x, y, left=False), SQUARE, floats(2, 3)),
    (lambda x, y: torch.linalg.solve_triangular(x, y, upper=True), SQUARE.triu(), floats(3, 2)),
    (
        lambda x, y: torch.linalg.solve_triangular(x, y, upper=False, unitriangular=True),
        SQUARE.tril(),
        floats(3, 2),
    ),
    (lambda x: torch.linalg.cholesky(x), POSITIVE),
    (lambda x: torch.linalg.cholesky(x, upper=True), POSITIVE),
    (lambda x, y: torch.cholesky_solve(y, torch.linalg.cholesky(x)), POSITIVE, floats(3, 2)),
    (lambda x: torch.cholesky_inverse(torch.linalg.cholesky(x)), POSITIVE),
    (lambda x: torch.linalg.matrix_power(x, 3), SQUARE),
    (lambda x: torch.linalg.matrix_power(x, 0), SQUARE),
    (lambda x: torch.linalg.matrix_power(x, -2), SQUARE),
    (lambda x: torch.linalg.matrix_exp(x), SQUARE * 0.1),
    (lambda x: torch.linalg.matrix_exp(x), SQUARE),
    (lambda x: torch.linalg.pinv(x), floats(4, 3)),
    (lambda x: torch.linalg.eigvalsh(x), POSITIVE),
    (lambda x: torch.linalg.svdvals(x), floats(4, 3)),
    (lambda x: torch.linalg.matrix_rank(x), floats(4, 3)),
    (lambda x: torch.linalg.cond(x), SQUARE),
    (lambda x: torch.linalg.vander(x, N=4), floats(3)),
    (lambda x: torch.linalg.lu_factor(x), SQUARE),
    (lambda x: torch.linalg.lu(x), SQUARE),
    (lambda x: x.float() @ x.float().T, bools(3, 4)),
)
def test_products(case: Case) -> None:
    check(case, scaled)


class Chosen(torch.nn.Module):
    """Contracts over the rows that a mask chooses, which may be none."""

    def forward(self, x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> list[torch.Tensor]:
        left, right = x[:, mask], y[:, mask]
        return [
            left @ right[0],
            left @ right.T,
            right @ left.expand(2, 3, -1).mT,
            right[0] @ left.T,
        ]


def test_products_of_nothing_at_run_time_are_zero() -> None:
    x, y = floats(3, 4), floats(2, 4, seed=9)
    some, none = torch.tensor([True, False, True, True]), torch.zeros(4, dtype=torch.bool)
    program = sardonyx.export(Chosen(), (x, y, some))
    for mask in (some, none):
        # What was in memory before is not all zeros.
        for got, want in zip(program(x, y, mask), Chosen()(x, y, mask), strict=True):
            torch.testing.assert_close(got, want)
