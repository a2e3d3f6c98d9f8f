"""Writing by index, functional and in place, through views, with and without accumulation."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tests.operators.check import Case, check, table
from tests.operators.inputs import NAN, bools, floats, ints, of, scalar

aten = torch.ops.aten

X = floats(4, 5, 6)
V = floats(4, 5, 6, seed=11)
I2 = of(1, -1)
ROWS = of([0], [2], [-1])
COLUMNS = of([1, 3])
MASK4 = of(True, False, True, True)


def writes(index: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    """y[index(...)] = value on a copy of x."""

    def function(x: torch.Tensor, value: Any, *rest: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[index(*rest)] = value
        return y

    function.__code__ = function.__code__.replace(
        co_filename=index.__code__.co_filename, co_firstlineno=index.__code__.co_firstlineno
    )
    return function


def after(write: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    """A copy of x after `write` has been at it."""

    def function(x: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        write(y, *rest)
        return y

    function.__code__ = function.__code__.replace(
        co_filename=write.__code__.co_filename, co_firstlineno=write.__code__.co_firstlineno
    )
    return function


ONE = scalar(1.0)


@table(
    (writes(lambda: 0), X, ONE),
    (writes(lambda: slice(None)), X, ONE),
    (writes(lambda: ...), X, ONE),
    (writes(lambda: (slice(None), 1)), X, ONE),
    (writes(lambda: (..., -1)), X, ONE),
    (writes(lambda: slice(1, 3)), X, V[:2]),
    (writes(lambda: slice(1, 3)), X, V[0]),
    (writes(lambda: slice(None, None, 2)), X, V[:2]),
    (writes(lambda: (slice(None), slice(0, 5, 2), slice(1, None))), X, V[:, :3, :5]),
    (writes(lambda: (slice(-2, None), 0)), X, V[:2, 0]),
    (writes(lambda: (1, 2, 3)), X, ONE),
    (writes(lambda: (None, 0)), X, V[0]),
    (writes(lambda: (0, None, slice(1, 3))), X, V[:1, 1:3]),
    (writes(lambda: slice(2, 2)), X, ONE),
    (writes(lambda: slice(1, 100)), X, ONE),
    (writes(lambda i: i), X, V[:2], I2),
    (writes(lambda i: i), X, ONE, I2),
    (writes(lambda i: (slice(None), i)), X, V[:, :2], I2),
    (writes(lambda i: (..., i)), X, V[..., :2], I2),
    (writes(lambda i: (1, i)), X, V[0, :2], I2),
    (writes(lambda i: (i, slice(1, 3))), X, V[:2, :2], I2),
    (writes(lambda i, j: (i, j)), X, V[:2, 0], I2, I2),
    (writes(lambda i, j: (i, slice(None), j)), X, ONE, I2, I2),
    (writes(lambda i, j: (i, j)), X, V[:3, :2], ROWS, COLUMNS),
    (writes(lambda i, j: (slice(None), i, j)), X, V[:, :3, :2], ROWS, COLUMNS),
    (writes(lambda i, j: (i, slice(None), j)), X, ONE, ROWS, COLUMNS),
    (writes(lambda i, j: (i, j, 2)), X, ONE, ROWS, COLUMNS),
    (writes(lambda m: m), X, ONE, MASK4),
    (writes(lambda m: m), X, V[:3], MASK4),
    (writes(lambda m: m), X, ONE, bools(4, 5)),
    (writes(lambda m: m), X, ONE, bools(4, 5, 6)),
    (writes(lambda m: (slice(None), m)), X, ONE, bools(5, 6)),
    (writes(lambda m: (m, 0)), X, ONE, MASK4),
    (writes(lambda m: (m, slice(1, 3))), X, ONE, MASK4),
    (writes(lambda: ([0, 2], [1, 3])), X, ONE),
    (writes(lambda: [3, 0]), X, V[:2]),
    (writes(lambda i: i), ints(5), scalar(9), I2),
    (writes(lambda i: i), bools(5), scalar(True), I2),
    (writes(lambda: 0), ints(4, 3), scalar(2.0)),
    (after(lambda y: y[0].fill_(3)), X),
    (after(lambda y: y[:, 1].zero_()), X),
    (after(lambda y: y[1:3].add_(1)), X),
    (after(lambda y: y.view(-1)[::7].mul_(2)), X),
    (after(lambda y: y.t().copy_(torch.ones(3, 2))), floats(2, 3)),
    (after(lambda y: y.transpose(0, 1)[1].neg_()), X),
    (after(lambda y: y.permute(2, 0, 1)[0, 1:].fill_(0)), X),
    (after(lambda y: y[0][1][2:4].fill_(5)), X),
    (after(lambda y: y.diagonal().fill_(0)), floats(4, 4)),
    (after(lambda y: y.diagonal(1).copy_(torch.arange(3.0))), floats(4, 4)),
    (after(lambda y: y.fill_diagonal_(7)), floats(4, 3)),
    (after(lambda y: y.unsqueeze(0).add_(1)), X),
    (after(lambda y: y.reshape(20, 6)[3].zero_()), X),
    (after(lambda y: y.flatten()[5:9].fill_(1)), X),
    (after(lambda y: y.chunk(2, 1)[1].fill_(0)), X),
    (after(lambda y: y.split([1, 2, 1])[1].mul_(3)), X),
    (after(lambda y: y.unbind(1)[2].fill_(1)), X),
    (after(lambda y: y.select(2, -1).copy_(y.select(2, 0))), X),
    (after(lambda y: y.narrow(1, 1, 2).fill_(1)), X),
    (after(lambda y: y[1:].copy_(y[:-1].clone())), X),
    (after(lambda y: y.unfold(0, 2, 2)[0].fill_(2)), floats(6)),
    (after(lambda y: y.as_strided((2, 2), (3, 1), 1).fill_(4)), floats(3, 3)),
    (after(lambda y: y[1:].as_strided((2, 2), (3, 1), 0).fill_(4)), floats(3, 3)),
    (after(lambda y: y[:, 1].as_strided((2,), (3,)).fill_(4)), floats(3, 3)),
    (after(lambda y: y.squeeze(1).add_(5)), floats(3, 1)),
    (after(lambda y: y.expand(3)), floats(1)),
    (after(lambda y: y.masked_fill_(y > 0, -1)), X),
    (after(lambda y: y.index_fill_(1, torch.tensor([0, -1]), 2)), X),
    (after(lambda y: y.clamp_(0, 1).add_(1)), X),
    (after(lambda y: y[y > 0].fill_(1)), X),
    (after(lambda y: y.__setitem__(y > 0, 0)), X),
    (after(lambda y, i: y.index_put_((i,), torch.tensor(1.0), accumulate=True)), X, of(1, 1, 2)),
    (after(lambda y, i, j: y.index_put_((i, j), torch.tensor(1.0), True)), X, of(1, 1), of(2, 2)),
    (after(lambda y, i: y.__setitem__(i, y[i] * 2)), X, I2),
    (after(lambda y, i: y.__setitem__((slice(None), i), y[:, i] + 1)), X, I2),
    (lambda x, i, v: x.index_put((i,), v), X, I2, V[:2]),
    (lambda x, i, v: x.index_put((i,), v, accumulate=True), X, of(1, 1), V[:2]),
    (lambda x, i, v: x.index_copy(1, i, v), X, of(3, 0), V[:, :2]),
    (lambda x, i, v: x.index_copy(-1, i, v), X, of(3, 0), V[..., :2]),
    (lambda x, i, v: x.index_add(0, i, v), X, of(1, 1), V[:2]),
    (lambda x, i, v: x.index_add(1, i, v, alpha=-2), X, of(4, 1), V[:, :2]),
    (lambda x, i, v: x.index_add(0, i, v), ints(5), of(1, 1, 3), of(5, 6, 7)),
    (lambda x, i: x.index_fill(0, i, 9.0), X, I2),
    (lambda x, i, v: x.index_fill(2, i, v), X, I2, scalar(3.0)),
    (lambda x, i, v: x.index_reduce(0, i, v, "amax"), X, of(1, 1), V[:2]),
    (lambda x, i, v: x.index_reduce(0, i, v, "mean"), X, of(1, 1), V[:2]),
    (lambda x, i, v: x.index_reduce(0, i, v, "prod", include_self=False), X, of(1, 1), V[:2]),
    (lambda x, i, v: x.scatter(1, i, v), X, ints(4, 1, 6, low=0, high=5), V[:, :1]),
    (lambda x, i: x.scatter(-1, i, 2.5), X, ints(4, 5, 1, low=0, high=6)),
    (lambda x, i, v: x.scatter(0, i, v), floats(5), of(4, 1), floats(2)),
    (lambda x, i, v: x.scatter(0, i, v, reduce="add"), floats(5), of(1, 1), floats(2)),
    (lambda x, i, v: x.scatter(0, i, v, reduce="multiply"), floats(5), of(1, 1), floats(2)),
    (lambda x, i: x.scatter(0, i, 3.0, reduce="add"), floats(5), of(1, 1)),
    (lambda x, i, v: x.scatter_add(0, i, v), floats(5), of(1, 1, 0), floats(3)),
    (lambda x, i, v: x.scatter_add(1, i, v), X, ints(4, 2, 6, low=0, high=5), V[:, :2]),
    (lambda x, i, v: x.scatter_add(0, i, v), ints(5), of(1, 1, 0), ints(3)),
    (lambda x, i, v: x.scatter_reduce(0, i, v, "sum"), floats(5), of(1, 1, 0), floats(3)),
    (lambda x, i, v: x.scatter_reduce(0, i, v, "amin"), floats(5), of(1, 1, 0), floats(3)),
    (
        lambda x, i, v: x.scatter_reduce(0, i, v, "amax", include_self=False),
        floats(5),
        of(1, 1, 0),
        floats(3),
    ),
    (lambda x, i, v: x.scatter_reduce(0, i, v, "mean"), floats(5), of(1, 1, 0), floats(3)),
    (
        lambda x, i, v: x.scatter_reduce(0, i, v, "mean", include_self=False),
        floats(5),
        of(1, 1, 0),
        floats(3),
    ),
    (
        lambda x, i, v: x.scatter_reduce(0, i, v, "prod", include_self=False),
        floats(5),
        of(1, 1, 0),
        floats(3),
    ),
    (lambda x, i, v: x.scatter_reduce(0, i, v, "mean"), ints(5), of(1, 1, 0), of(5, 6, -7)),
    (lambda x, i, v: x.index_reduce(0, i, v, "prod"), X, of(1, 1, 0), V[:3]),
    (lambda x, i, v: x.index_reduce(-1, i, v, "amax"), X, of(5, 1, 1), V[..., :3]),
    (lambda x, i, v: x.index_reduce(1, i, v, "mean"), X, of(3, 3), V[:, :2]),
    (lambda x, i, v: x.index_reduce(0, i, v, "amin", include_self=False), X, of(1, 1, 0), V[:3]),
    (lambda x, i, v: x.index_reduce(0, i, v, "mean"), ints(5), of(1, 1, 0), of(5, 6, -7)),
    (lambda x, i, v: x.scatter(0, i, v, reduce="add"), floats(5), of(1, 1, 0), floats(3)),
    (lambda x, i, v: x.scatter(0, i, v, reduce="multiply"), ints(5), of(1, 1, 0), ints(3)),
    (lambda x, i: x.scatter(0, i, 2.5, reduce="multiply"), floats(5), of(1, 1, 0)),
    (lambda x, i, v: x.scatter_reduce(0, i, v, "amin"), floats(5), of(1, 1, 0), of(NAN, 1, 2)),
    (lambda x, i, v: x.scatter_reduce(0, i, v, "amax"), of(NAN, NAN), of(1, 1), of(1.0, 2.0)),
    (
        lambda x, i, v: x.scatter_reduce(0, i, v, "amax", include_self=False),
        *(of(NAN, NAN), of(1, 1), of(1.0, 2.0)),
    ),
    (lambda x, i, v: x.index_reduce(0, i, v, "prod"), floats(5, 2), of(1, 0), floats(2, 2)),
    (lambda x, i, v: x.index_reduce(1, i, v, "mean"), ints(3, 4), of(1, 0), ints(3, 2, seed=9)),
    (
        lambda x, i, v: x.index_reduce(1, i, v, "mean", include_self=False),
        *(ints(3, 4), of(1, 1), ints(3, 2, seed=9)),
    ),
    (
        lambda x, i, v: x.index_reduce(0, i, v, "amax", include_self=False),
        *(floats(5, 2, dtype=torch.float16), of(3, 3), floats(2, 2, dtype=torch.float16)),
    ),
    (lambda x, i, v: x.index_reduce(0, i, v, "amin"), floats(4), of(3, 3), of(2.0, -2.0)),
    (lambda x, m: x.masked_fill(m, 2.0), X, bools(4, 5, 6)),
    (lambda x, m: x.masked_fill(m, -torch.inf), X, bools(5, 1)),
    (lambda x, m: x.masked_fill(m, 2.5), ints(4).float(), bools(4)),
    (lambda x, m, v: x.masked_fill(m, v), X, bools(6), scalar(3.0)),
    (lambda x, m: x.masked_fill(m, 3), floats(6), bools(2, 6)),
    (lambda x, m, v: x.masked_scatter(m, v), X, bools(4, 5, 6), V),
    (lambda x, m, v: x.masked_scatter(m, v), X, bools(6), V),
    (lambda x, m, v: x.masked_scatter(m & (x > 99), v[:0]), X, bools(6), V),
    (lambda x, m, v: x.masked_scatter(m & (x > 99), v[v > 99]), X, bools(6), V),
    (lambda x, v: x.select_scatter(v, 1, -1), X, V[:, 0]),
    (lambda x, v: x.slice_scatter(v, 0, 1, 3), X, V[:2]),
    (lambda x, v: x.slice_scatter(v, 1, 0, 5, 2), X, V[:, :3]),
    (lambda x, v: x.diagonal_scatter(v, 1), floats(4, 5), floats(4)),
    (lambda x, v: torch.as_strided_scatter(x, v, (2, 2), (5, 1), 1), floats(4, 5), floats(2, 2)),
    (lambda x, i, v: torch.put(x, i, v), X, of(0, 50, -1), floats(3)),
    (lambda x, i, v: torch.put(x, i, v, accumulate=True), X, of(0, 0, -1), floats(3)),
    (lambda x, i, v: torch.put(x, i, v, accumulate=True), X.half(), of(0, 0, -1), floats(3).half()),
    (lambda x, i: x.scatter(0, i, 1.0), X, torch.empty(0, dtype=torch.int64)),
    (lambda x, i, v: x.scatter_reduce(0, i, v, "amax"), bools(5), of(1, 1, 0), bools(3)),
    (
        lambda x, m, i, v: aten._unsafe_masked_index_put_accumulate(x, m, [i], v),
        X[:, 0, 0],
        MASK4,
        of(-2, 9, 2, -99),
        V[:, 0, 0],
    ),
    (lambda x: torch.ones(3).index_put((torch.tensor([0, 2]),), x), floats(2)),
    (lambda x: torch.zeros(4, 6).masked_fill(x > 0, 1), floats(4, 6)),
)
def test_index_writing(case: Case) -> None:
    check(case)
