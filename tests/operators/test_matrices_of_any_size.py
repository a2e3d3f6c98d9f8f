"""Factorizations and solutions whose sizes are dynamic are right of empty matrices, too."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import sardonyx
from tests.harness import Calls, difference


def _regular(x):
    return x + 3 * torch.eye(x.shape[-1])


SQUARE = {
    "cholesky_inverse": lambda x: torch.cholesky_inverse(_regular(x.tril())),
    "cholesky_solve": lambda x: torch.cholesky_solve(x[..., :1], _regular(x.tril())),
    "triangular_solve": lambda x: torch.triangular_solve(x[..., :1], _regular(x.triu()))[0],
    "matrix_exp": lambda x: torch.matrix_exp(x / 4),
    "inv": lambda x: torch.linalg.inv(_regular(x)),
    "solve": lambda x: torch.linalg.solve(_regular(x), x[..., :1]),
    "lu_solve": lambda x: torch.linalg.lu_solve(*torch.linalg.lu_factor(_regular(x)), x[..., :1]),
    "pivots": lambda x: torch.linalg.lu_factor(x)[1],
    "det": torch.det,
    "logdet": lambda x: torch.logdet(_regular(x @ x.mT)),
    "eigvalsh": lambda x: torch.linalg.eigvalsh(x + x.mT),
}
WIDE = {
    "svdvals": torch.linalg.svdvals,
    "svd": lambda x: torch.svd(x, some=False)[1],
    "qr": lambda x: torch.linalg.qr(x)[1].abs(),
    "pinv": torch.linalg.pinv,
}
SIZES = [(2, 2), (1, 1), (0, 0), (4, 4), (0, 3), (3, 0), (3, 2)]


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)], ids=str)
@pytest.mark.parametrize("name", [*SQUARE, *WIDE])
def test_it_is_right_of_each_size(name, batch):
    model = Calls({**SQUARE, **WIDE}[name])
    example = torch.randn(*batch, 4, 4)
    dims = dict.fromkeys(range(example.dim()), Dim.DYNAMIC)
    program = sardonyx.export(model, (example,), dynamic_shapes=(dims,))
    torch.manual_seed(1)
    for rows, columns in SIZES:
        if name in SQUARE and rows != columns:
            continue
        x = torch.randn(*batch, rows, columns)
        assert difference(program(x)[0], model(x)) is None, (rows, columns)
