"""Numbers that are known only when the model runs: sizes, item(), data-dependent shapes."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.operators.check import Case, check, table, uncapturable
from tests.operators.inputs import bools, floats, ints, of, scalar

X = floats(4, 6)
aten = torch.ops.aten


def checked(size: torch.Tensor, most: int) -> int:
    """item() that torch.export may use as a size."""
    number = size.item()
    torch._check(number >= 0)
    torch._check(number <= most)
    return number  # type: ignore[return-value]


@table(
    (lambda x: x * x.shape[0], X),
    (lambda x: x + x.shape[0] / x.shape[1], X),
    (lambda x: x * (x.shape[0] // 3), X),
    (lambda x: x * (x.shape[0] % 3), X),
    (lambda x: x * x.shape[0] ** 0.5, X),
    (lambda x: x / x.shape[-1] ** 0.5, X),
    (lambda x: x[: x.shape[0] // 2], X),
    (lambda x: x[x.shape[0] - 2 :], X),
    (lambda x: x[:, -(x.shape[1] - 1) :], X),
    (lambda x: x[: max(x.shape[0] - 1, 1)], X),
    (lambda x: x[: min(x.shape[0], 3)], X),
    (lambda x: x.new_zeros(x.shape[0] + x.shape[1]), X),
    (lambda x: x.new_full((2,), x.shape[0]), X),
    (lambda x: torch.arange(x.shape[0] * 2), X),
    (lambda x: torch.arange(x.shape[1]).expand(x.shape[0], -1), X),
    (lambda x: x.view(x.shape[0] * 2, x.shape[1] // 2), X),
    (lambda x: x.reshape(-1, 2, x.shape[1] // 2), X),
    (lambda x: x.repeat(x.shape[0], 1), X),
    (lambda x: F.pad(x, (0, x.shape[0])), X),
    (lambda x: F.pad(x, (0, 8 - x.shape[1])), X),
    (lambda x: F.interpolate(x[None, None], size=(x.shape[0] * 2, x.shape[1])), X),
    (lambda x, y: torch.cat([x, y])[: x.shape[0]], X, floats(2, 6)),
    (lambda x, y: x.expand(y.shape[0], x.shape[1]), floats(1, 6), floats(3, 2)),
    (lambda x, y: torch.cat([x, y]).view(2, -1), X, floats(4, 6)),
    (lambda x: torch.ones(x.shape[0], x.shape[0]).tril(), X),
    (lambda x: x.sum() / x.numel(), X),
    # PyTorch leaves these calls in the program and writes their answers where they are used.
    uncapturable("RuntimeError: Cannot call numel()", lambda x: x.sum() / aten.numel(x), X),
    (lambda x: x * aten.dim(x), X),
    (lambda x: x * 2 if aten.is_floating_point(x) else x, X),
    (lambda x: aten.zeros([2], dtype=aten.result_type(x, 3.5)), ints(3)),
    (lambda x: torch.tensor(x.shape[0]), X),
    (lambda x: torch.tensor([x.shape[0], 1]), X),
    (lambda x: x.split(x.shape[0] // 2), X),
    (lambda x: x.unfold(0, 2, 1), X),
    (lambda x: x.roll(x.shape[0] // 2, 0), X),
    (lambda x: x.narrow(0, x.shape[0] - 2, 2), X),
    (lambda x: x.select(0, x.shape[0] - 1), X),
    (lambda x: torch.linspace(0, 1, x.shape[0]), X),
    (lambda x: torch.full((x.shape[0],), x.shape[1] * 0.5), X),
    (lambda x: torch.where(torch.arange(x.shape[1]) < x.shape[0], x, 0), X),
    (lambda x: x.mean() * float(x.shape[0]), X),
    (lambda x: x + (1 if x.shape[0] > 2 else 2), X),
    (lambda x, n: x + n.item(), X, scalar(3)),
    (lambda x, n: x * n.item(), X, scalar(2.5)),
    (lambda x, n: F.leaky_relu(x, n.item()), X, scalar(0.5)),
    (lambda x, n: F.hardshrink(x, n.item()), X, scalar(0.5)),
    (lambda x, n: F.elu(x, n.item()), X, scalar(0.5)),
    (lambda x, n: x[: checked(n, 4)], X, scalar(2)),
    (lambda x, n: x.new_zeros(checked(n, 9)), X, scalar(5)),
    (lambda x, n: torch.arange(checked(n, 9)), X, scalar(5)),
    (lambda x, n: x[:1].expand(checked(n, 9), -1), X, scalar(5)),
    (lambda x: x.max().item() + x, X),
    (lambda x: torch.nonzero(x > 0), X),
    (lambda x: torch.nonzero(x > 0).sum(0), X),
    (lambda x: x[x > 0].sum(), X),
    (lambda x: x[x > 0] * 2, X),
    (lambda x: torch.nonzero(x > 0).shape[0] + x, X),
    (lambda x: torch.cat([x[x > 0], x[x < 0]]), X),
    (lambda x, m: x[m].mean(0), X, bools(4)),
    (lambda x, n: x.repeat_interleave(n, 0), X, ints(4, low=0, high=3)),
    (lambda x, n: torch.repeat_interleave(x, n, dim=0).sum(0), X, of(1, 0, 2, 1)),
    (lambda x: torch.unique(x).shape[0] + x, ints(6)),
    (lambda x: torch.masked_select(x, x > 0).view(-1, 1), X),
    (lambda x: torch.bincount(x), of(1, 4, 4)),
    (lambda x: F.one_hot(x, 6).sum(0), ints(3, low=0, high=6)),
)
def test_symbolic(case: Case) -> None:
    check(case)
