"""Losses of as many numbers as there are, perhaps none."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.operators.check import Case, check, table
from tests.operators.inputs import floats

X = floats(3, 4)


def loss_of_large(x: torch.Tensor, least: float) -> torch.Tensor:
    large = x[x > least]
    return F.mse_loss(large, large * 2)


def loss_of_parts(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    # The sizes of both are quotients that the capture does not compare.
    large, small = x[x > 0].reshape(2, -1), y[y > 0].reshape(2, -1)
    torch._check(large.shape[1] == small.shape[1])
    return F.mse_loss(large, small)


@table(
    (F.mse_loss, floats(0, 4), floats(0, 4)),
    (lambda x, y: F.smooth_l1_loss(x, y, reduction="sum"), floats(0, 4), floats(0, 4)),
    (lambda x: loss_of_large(x, 9.0), X),
    (lambda x: loss_of_large(x, 0.0), X),
    (loss_of_parts, X.abs() + 1, X.abs() + 2),
)
def test_of_few(case: Case) -> None:
    check(case)
