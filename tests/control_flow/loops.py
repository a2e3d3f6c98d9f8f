"""while_loop."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .operators import cond, while_loop
from .programs import ROWS, Program, joins, numbers, positive

LOOPS: list[Program] = []
loop = joins(LOOPS)


def count(n: int) -> Tensor:
    return torch.tensor(n)


@loop(numbers(4, 3), count(0), others=((numbers(4, 3), count(3)), (numbers(4, 3), count(9))))
def counts_in_a_tensor(x: Tensor, start: Tensor) -> Any:
    return while_loop(lambda x, i: i < 5, lambda x, i: (x * 1.5, i + 1), (x, start))


@loop(numbers(4, 3), others=((numbers(2, 3),), (numbers(9, 3),)), dynamic=ROWS)
def counts_in_an_integer(x: Tensor) -> Any:
    return while_loop(
        lambda y, i: i < x.shape[0] - 2, lambda y, i: (y + x[0] * i, i + 1), (x.clone(), 0)
    )


@loop(numbers(6, 3), others=((numbers(2, 3),), (numbers(9, 3),)), dynamic=ROWS)
def reads_the_row_it_counts(x: Tensor) -> Any:
    def step(total: Tensor, i: int) -> Any:
        torch._check(i >= 0)
        torch._check(i < x.shape[0])
        return total + x[i], i + 1

    return while_loop(lambda total, i: i < x.shape[0], step, (x.new_zeros(3), 0))[0]


@loop(count(27), others=((count(1),), (count(2),), (count(97),)))
def steps_of_collatz(n: Tensor) -> Any:
    def step(n: Tensor, steps: Tensor) -> Any:
        return torch.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return while_loop(lambda n, steps: n != 1, step, (n, torch.zeros_like(n)))


@loop(torch.tensor(2.0), others=((torch.tensor(1.0),), (torch.tensor(1e6),)))
def square_root_by_newton(a: Tensor) -> Tensor:
    return while_loop(
        lambda x: (x * x - a).abs() > 1e-3 * a, lambda x: ((x + a / x) / 2,), (a.clone(),)
    )[0]


@loop(numbers(3, 3), count(4), others=((numbers(3, 3), count(0)), (numbers(3, 3), count(1))))
def power_of_a_matrix(x: Tensor, exponent: Tensor) -> Tensor:
    return while_loop(lambda y, n: n > 0, lambda y, n: (y @ x, n - 1), (torch.eye(3), exponent))[0]


@loop(numbers(5), count(3), others=((numbers(5), count(0)), (numbers(5), count(6))))
def nests_loops(x: Tensor, rows: Tensor) -> Any:
    def outer(total: Tensor, i: Tensor) -> Any:
        inner = while_loop(lambda t, j: j < i, lambda t, j: (t + x, j + 1), (total, i * 0))[0]
        return inner * 0.5, i + 1

    return while_loop(lambda total, i: i < rows, outer, (x * 0, rows * 0))


@loop(numbers(5), count(4), others=((numbers(5) - 3, count(5)), (numbers(5) + 3, count(0))))
def branches_in_a_loop(x: Tensor, n: Tensor) -> Any:
    def step(y: Tensor, i: Tensor) -> Any:
        return cond(y.sum() > 0, lambda y: y - 1, lambda y: y * y, (y,)), i + 1

    return while_loop(lambda y, i: i < n, step, (x, n * 0))


@loop(positive(4), others=((positive(4) * 0 + 2,), (positive(4) * 100,)))
def loops_in_a_branch(x: Tensor) -> Tensor:
    def large(x: Tensor) -> Tensor:
        return while_loop(lambda x: x.max() > 10, lambda x: (x / 2,), (x,))[0]

    return cond(x.max() > 10, large, lambda x: x + 1, (x,))


@loop(numbers(4, 3), others=((numbers(2, 3),), (numbers(6, 3),)), dynamic=ROWS)
def keeps_symbolic_sizes(x: Tensor) -> Any:
    def step(y: Tensor, i: Tensor) -> Any:
        flat = y.reshape(x.shape[0] * 3)
        return flat.roll(1).view(x.shape[0], 3) + x, i + 1

    return while_loop(lambda y, i: i < 3, step, (x * 0, torch.tensor(0)))


@loop(numbers(4), count(3), others=((numbers(4), count(0)),))
def carries_several_dtypes(x: Tensor, n: Tensor) -> Any:
    def step(x: Tensor, i: Tensor, flag: Tensor, h: Tensor) -> Any:
        return x + h.float(), i + 1, flag ^ True, (h * 2).to(torch.float16)

    return while_loop(
        lambda x, i, flag, h: i < n,
        step,
        (x, n * 0, torch.tensor(False), x.to(torch.float16)),
    )


@loop(count(10), others=((count(0),), (count(2),), (count(30),)))
def numbers_of_fibonacci(n: Tensor) -> Any:
    return while_loop(
        lambda a, b, i: i < n, lambda a, b, i: (b.clone(), a + b, i + 1), (n * 0, n * 0 + 1, n * 0)
    )


@loop(numbers(7), others=((numbers(3),), (numbers(40),)), dynamic=ROWS)
def carries_integers_that_depend_on_each_other(x: Tensor) -> Any:
    limit = x.shape[0]
    return while_loop(
        lambda a, b, y: a + b < limit, lambda a, b, y: (b + 0, a + b, y + b), (0, 1, x * 0)
    )


@loop(numbers(2, 4), torch.tensor([1, 2]), others=((numbers(2, 4, seed=3), torch.tensor([3, 0])),))
def decodes_greedily(weights: Tensor, first: Tensor) -> Tensor:
    tokens = torch.zeros(2, 6, dtype=torch.int64)
    tokens[:, 0] = first

    def step(tokens: Tensor, position: Tensor) -> Any:
        last = tokens.gather(1, (position - 1).expand(2, 1))
        scores = (weights * (last + position)).sin()
        chosen = scores.argmax(1, keepdim=True)
        return tokens.scatter(1, position.expand(2, 1), chosen), position + 1

    return while_loop(lambda tokens, position: position < 6, step, (tokens, torch.tensor(1)))[0]


@loop(numbers(4, 3), count(3), others=((numbers(4, 3), count(0)), (numbers(4, 3), count(1))))
def writes_to_what_it_captures(x: Tensor, n: Tensor) -> Any:
    log = torch.zeros(3)

    def step(y: Tensor, i: Tensor) -> Any:
        log.add_(y[0])
        return y + log, i + 1

    y, _ = while_loop(lambda y, i: i < n, step, (x * 2, n * 0))
    return y, log


@loop(numbers(4, 3), count(3), others=((numbers(4, 3), count(0)), (numbers(4, 3), count(1))))
def its_condition_sees_what_the_body_writes(x: Tensor, n: Tensor) -> Any:
    left = n.clone()

    def step(y: Tensor) -> Any:
        left.sub_(1)
        return (y * 2,)

    y = while_loop(lambda y: left > 0, step, (x,))[0]
    return y, left


@loop(numbers(4, 3), count(3), others=((numbers(4, 3), count(0)), (numbers(4, 3), count(1))))
def writes_to_a_row_from_outside(x: Tensor, n: Tensor) -> Any:
    table = x.clone()
    row = table[1]

    def step(i: Tensor) -> Any:
        row[:2].mul_(2)
        return (i + 1,)

    return while_loop(lambda i: i < n, step, (n * 0,))[0], table


@loop(numbers(4, 3), count(3), others=((numbers(4, 3), count(0)), (numbers(4, 3), count(1))))
def writes_to_what_it_carries(x: Tensor, n: Tensor) -> Any:
    y = x.clone()

    def step(y: Tensor, i: Tensor) -> Any:
        y.add_(1)
        return y * 2, i + 1

    z, i = while_loop(lambda y, i: i < n, step, (y, n * 0))
    return z, i, y


@loop(numbers(4, 3), count(3), others=((numbers(4, 3), count(0)), (numbers(4, 3), count(2))))
def writes_to_captured_and_carried(x: Tensor, n: Tensor) -> Any:
    y, log = x.clone(), torch.zeros(4)

    def step(i: Tensor, y: Tensor) -> Any:
        y[:, 0].mul_(3)
        log.add_(y.sum(1))
        return i + 1, y + log[:, None]

    _, z = while_loop(lambda i, y: i < n, step, (n * 0, y))
    return z, y, log


@loop(numbers(4, 3), others=((numbers(2, 3),), (numbers(7, 3),)), dynamic=ROWS)
def grows_a_table_in_place(x: Tensor) -> Tensor:
    table = x.new_zeros(x.shape[0], 3)

    def step(i: Tensor) -> Any:
        table.index_copy_(0, i[None], x.index_select(0, i[None]) * (i + 1))
        return (i + 1,)

    while_loop(lambda i: i < x.shape[0], step, (torch.tensor(0),))
    return table
