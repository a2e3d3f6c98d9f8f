"""Tensors made from nothing, from sizes, and in the likeness of others."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import torch

from tests.operators.check import Case, check, refused, table
from tests.operators.inputs import bools, complexes, floats, ints, scalar

X = floats(2, 3)
# Eager PyTorch makes a row of it; a program has no way to give a tensor another shape.
OUT = "SX1705 'clone', passed as out=, is not a row of numbers"


@table(
    (lambda x: torch.zeros(2, 3) + x, X),
    (lambda x: torch.ones(x.shape[0], 4), X),
    (lambda x: torch.full((x.shape[1], 2), x.shape[0]), X),
    (lambda x: torch.full((x.shape[1],), 2.5, dtype=torch.float64), X),
    (lambda x: torch.zeros(0, x.shape[0]), X),
    (lambda x: torch.zeros((), dtype=torch.int32) + x.shape[0], X),
    (lambda x: torch.arange(1.1, 7.1, out=x.clone()), ints(6)),
    refused(
        OUT,
        lambda x: torch.arange(1, 7, out=x.clone()),
        ints(2, 3),
        dynamic=False,
        uncapturable="RuntimeError: tried to directly modify sizes",
    ),
    (lambda x: torch.linspace(0, 1, 6, out=x.clone()), floats(6)),
    (lambda x: torch.full((2, 3), 2.7, out=x.clone()), ints(2, 3)),
    (lambda x: torch.eye(2, 3, out=x.clone()), X),
    (lambda x: torch.zeros_like(x), X),
    (lambda x: torch.ones_like(x, dtype=torch.bool), X),
    (lambda x: torch.full_like(x, -torch.inf), X),
    (lambda x: torch.full_like(x, 2, dtype=torch.int64), X),
    (lambda x: torch.full_like(x, torch.nan), scalar(1.0)),
    (lambda x, y: torch.ops.aten.copy(x, y), X, ints(3)),
    (lambda x, y: torch.ops.aten.copy(x, y), complexes(2, 3), floats(3)),
    (lambda x, y: torch.ops.aten.fill(x, y), X, scalar(2)),
    (lambda x: torch.ops.aten.fill(x, 2.5), ints(3)),
    (lambda x: torch.ops.aten.zero(x), complexes(2, 3)),
    (lambda x: torch.zeros_like(x), bools(0, 3)),
    (lambda x: x.new_zeros(2), ints(3, dtype=torch.int8)),
    (lambda x: x.new_ones((x.shape[0], 2), dtype=torch.float64), X),
    (lambda x: x.new_full((2,), 3.7), ints(3)),
    (lambda x: x.new_full((2, x.shape[1]), 3), X),
    (lambda x: x.new_tensor([1.0, 2.0]), X),
    (lambda x: torch.empty_like(x).fill_(2), X),
    (lambda x: torch.empty(x.shape[0]).copy_(x[:, 0]), X),
    (lambda x: torch.arange(5) + x.sum().long(), X),
    (lambda x: torch.arange(x.shape[0]), X),
    (lambda x: torch.arange(x.shape[0], x.shape[0] + x.shape[1]), X),
    (lambda x: torch.arange(1, 10, 3) * x[0, 0], X),
    (lambda x: torch.arange(10, 0, -3) * x[0, 0], X),
    (lambda x: torch.arange(0, 1, 0.3) * x[0, 0], X),
    (lambda x: torch.arange(x.shape[1], dtype=torch.float32), X),
    (lambda x: torch.arange(0, x.shape[1], 2), X),
    (lambda x: torch.arange(x.shape[1], 0, -1), X),
    (lambda x: torch.arange(3.0, dtype=torch.int32) + x[0, 0], X),
    (lambda x: torch.arange(0) + x[0, :0].long(), X),
    (lambda x: torch.arange(4.8, 0.1, -1.3, dtype=torch.int64) + x[0, 0].long(), X),
    (lambda x: torch.arange(-1, 2.5, 1.5, dtype=torch.int32) + x[0, 0].int(), X),
    (lambda x: torch.arange(0.1, 2, 0.3, dtype=torch.bfloat16) * x[0, 0].bfloat16(), X),
    (lambda x: torch.zeros(3).fill_(x.sum().item()), X),
    (lambda x: torch.tensor([x.sum().item(), 2.0]) * 2, X),
    (lambda x: torch.linspace(0, 1, 7) * x[0, 0], X),
    (lambda x: torch.linspace(-3, 3, x.shape[1]), X),
    (lambda x: torch.linspace(0, 10, 4, dtype=torch.int64) + x[0, 0], X),
    (lambda x: torch.linspace(2, 5, 1) + x[0, 0], X),
    (lambda x: torch.logspace(0, 2, 5) * x[0, 0], X),
    (lambda x: torch.logspace(0, 3, 4, base=2) * x[0, 0], X),
    (lambda x: torch.eye(3) * x[0, 0], X),
    (lambda x: torch.eye(x.shape[0], x.shape[1]), X),
    (lambda x: torch.eye(2, 4, dtype=torch.int64), X),
    (lambda x: torch.tril_indices(3, 4, 1) + x[0, 0].long(), X),
    (lambda x: torch.triu_indices(4, 3, -1) + x[0, 0].long(), X),
    (lambda x: torch.tensor([1, 2, 3]) * x[0, 0], X),
    (lambda x: torch.tensor([[1.5], [2.5]], dtype=torch.float64) * x, X),
    (lambda x: torch.tensor(3) + x, X),
    (lambda x: torch.tensor([True, False, True]) & (x > 0), X),
    (lambda x: torch.scalar_tensor(2.5) * x, X),
    (lambda x: torch.hann_window(6) * x[0, 0], X),
    (lambda x: torch.hamming_window(6, periodic=False) * x[0, 0], X),
    (lambda x: torch.blackman_window(5) * x[0, 0], X),
    (lambda x: torch.bartlett_window(5) * x[0, 0], X),
    (lambda x: torch.kaiser_window(5, True, 8.0) * x[0, 0], X),
    (lambda x: torch.complex(x, x + 1), X),
    (lambda x: torch.polar(x.abs(), x), X),
    (lambda x: torch.vander(x[0]), X),
    (lambda x: torch.zeros(x.shape[0], x.shape[1] + 1).index_fill(1, torch.tensor([0]), 1), X),
    (lambda x: torch.ones(3, 3).tril() * x[0, 0], X),
    (lambda x: torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1), X),
)
def test_creation(case: Case) -> None:
    check(case)
