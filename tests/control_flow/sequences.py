"""scan, map, associative_scan, and torch.vmap, of which capture leaves a region."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops.associative_scan import associative_scan_op

from .operators import associative_scan, cond, over_rows, scan, while_loop
from .programs import ROWS, ROWS_OF_FIRST, Program, joins, numbers

SEQUENCES: list[Program] = []
sequence = joins(SEQUENCES)

LENGTHS: Any = {
    "others": ((numbers(2, 3), numbers(3)), (numbers(9, 3, seed=2), numbers(3))),
    "dynamic": ROWS_OF_FIRST,
}
ANY_ROWS: Any = {"others": ((numbers(2, 3),), (numbers(9, 3),)), "dynamic": ROWS}


@sequence(numbers(4, 3), numbers(3), **LENGTHS)
def sums_up(x: Tensor, start: Tensor) -> Any:
    return scan(lambda c, v: (c + v, (c * v).clone()), start, x)


@sequence(numbers(4, 3), numbers(3), **LENGTHS)
def sums_up_from_the_end(x: Tensor, start: Tensor) -> Any:
    return scan(lambda c, v: (c + v, c * v), start, x, reverse=True)


@sequence(numbers(3, 4), numbers(3))
def scans_another_axis(x: Tensor, start: Tensor) -> Any:
    return scan(lambda c, v: (c * 0.5 + v, c * v), start, x, dim=1)


@sequence(numbers(2, 4, 3), numbers(2, 3))
def scans_another_axis_from_the_end(x: Tensor, start: Tensor) -> Any:
    return scan(lambda c, v: (c * 0.5 + v, c - v), start, x, dim=1, reverse=True)


@sequence(numbers(4, 3), numbers(3), **LENGTHS)
def carries_a_tuple(x: Tensor, start: Tensor) -> Any:
    def step(carry: Any, v: Tensor) -> Any:
        h, c, n = carry
        gate = torch.sigmoid(h + v)
        c = c * gate + v.tanh()
        return (gate * c.tanh(), c, n + 1), {"out": gate * c, "n": n * 2}

    return scan(step, (start, start * 2, torch.tensor(0)), x)


@sequence(numbers(4, 3), numbers(3), **LENGTHS)
def scans_two_tensors(x: Tensor, start: Tensor) -> Any:
    def step(c: Tensor, v: Any) -> Any:
        a, b = v
        return c * a + b.sum(), c.clone()

    return scan(step, start, (x, (x * 2).unsqueeze(-1)))


@sequence(numbers(5, 2, 4), numbers(2, 3), numbers(7, 3))
def is_a_recurrent_cell(x: Tensor, h: Tensor, weight: Tensor) -> Any:
    def step(h: Tensor, v: Tensor) -> Any:
        h = torch.tanh(torch.cat([v, h], 1) @ weight)
        return h, h * 1.0

    return scan(step, h, x)


@sequence(
    numbers(6, 4), numbers(4, 2), others=((numbers(3, 4), numbers(4, 2)),), dynamic=ROWS_OF_FIRST
)
def is_a_selective_state_space(x: Tensor, start: Tensor) -> Any:
    decay = torch.exp(-x.abs())

    def step(state: Tensor, v: Any) -> Any:
        a, u = v
        state = a[:, None] * state + u[:, None]
        return state, state.sum(1)

    return scan(step, start, (decay, x))


@sequence(numbers(3, 4) + 3, numbers(1)[0], others=((numbers(3, 4) - 2, numbers(1)[0]),))
def branches_in_a_scan(x: Tensor, start: Tensor) -> Any:
    def step(c: Tensor, v: Tensor) -> Any:
        y = cond(v.sum() > 0, lambda v: v * 2, lambda v: v - 1, (v,))
        return c + y.sum(), y + c

    return scan(step, start, x)


@sequence(numbers(3, 4, 2), numbers(2))
def scans_in_a_scan(x: Tensor, start: Tensor) -> Any:
    def outer(c: Tensor, rows: Tensor) -> Any:
        total, parts = scan(lambda c, v: (c + v, c * v), c, rows)
        return total * 0.5, parts + 1

    return scan(outer, start, x)


@sequence(numbers(3, 4, 2), numbers(2))
def scans_in_a_map(x: Tensor, start: Tensor) -> Any:
    return over_rows(lambda rows, s: scan(lambda c, v: (c + v, c * v), s, rows)[1], x, start)


@sequence(numbers(3, 4), torch.tensor([1, 0, 4]))
def loops_in_a_map(x: Tensor, times: Tensor) -> Any:
    def one(v: Any) -> Tensor:
        row, n = v
        return while_loop(lambda y, i: i < n, lambda y, i: (y * 2, i + 1), (row, n * 0))[0]

    return over_rows(one, (x, times))


@sequence(numbers(4, 3, dtype=torch.int64), numbers(3, dtype=torch.int64))
def scans_integers(x: Tensor, start: Tensor) -> Any:
    return scan(lambda c, v: (torch.maximum(c, v), c > v), start, x)


@sequence(numbers(4, 3, dtype=torch.float64), numbers(3, dtype=torch.float64))
def scans_doubles(x: Tensor, start: Tensor) -> Any:
    return scan(lambda c, v: (c * v, (c + v).float()), start, x)


@sequence(numbers(4, 3), numbers(3), **LENGTHS)
def writes_inside_a_scan(x: Tensor, start: Tensor) -> Any:
    def step(c: Tensor, v: Tensor) -> Any:
        c = c.clone()
        c[0] = v[1]
        c[1:].mul_(2)
        return c, c.flip(0)

    return scan(step, start, x)


@sequence(numbers(4, 3), numbers(3), **LENGTHS)
def maps_rows(x: Tensor, y: Tensor) -> Tensor:
    return over_rows(lambda v, y: v * y, x, y)


@sequence(numbers(4, 3), numbers(3), **LENGTHS)
def maps_with_captures(x: Tensor, y: Tensor) -> Any:
    return over_rows(lambda v: {"a": v[0] * y, "b": v[1] + 1}, (x, x * 2))


@sequence(numbers(3, 4, 2), others=((numbers(2, 4, 2),),), dynamic=ROWS)
def maps_in_a_map(x: Tensor) -> Any:
    return over_rows(lambda rows: over_rows(lambda v: v.cumsum(0), rows) * 2, x)


@sequence(numbers(3, 4), others=((numbers(3, 4) + 3,),))
def branches_in_a_map(x: Tensor) -> Any:
    return over_rows(lambda v: cond(v.sum() > 1, lambda v: v.relu(), lambda v: v.neg(), (v,)), x)


@sequence(numbers(4, 3), **ANY_ROWS)
def maps_to_other_shapes(x: Tensor) -> Any:
    return over_rows(lambda v: (v[:, None] * v, v.sum(), v.argmax()), x)


@sequence(numbers(4, 3))
def adds_up_associatively(x: Tensor) -> Tensor:
    return associative_scan(lambda a, b: a + b, x, 0)


@sequence(numbers(3, 5))
def adds_up_along_another_axis(x: Tensor) -> Tensor:
    return associative_scan(lambda a, b: a + b, x, 1)


@sequence(numbers(7, 3))
def multiplies_from_the_end(x: Tensor) -> Tensor:
    return associative_scan(lambda a, b: a * b, x, 0, True)


@sequence(numbers(6, 3), numbers(6, 3, seed=4))
def is_a_linear_recurrence(a: Tensor, b: Tensor) -> Any:
    def combine(left: Any, right: Any) -> Any:
        return left[0] * right[0], left[1] * right[0] + right[1]

    return associative_scan(combine, (a, b), 0)


@sequence(numbers(5, 2, 2))
def multiplies_matrices(x: Tensor) -> Tensor:
    return associative_scan(lambda a, b: a @ b, x, 0)


@sequence(numbers(4, 3), **ANY_ROWS)
def adds_up_in_one_call(x: Tensor) -> Any:
    return associative_scan_op(lambda a, b: (a + b,), (x,), ())


@sequence(numbers(4, 3), **ANY_ROWS)
def recurs_in_one_call(x: Tensor) -> Any:
    def combine(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Any:
        return a * c, b * c + d

    return associative_scan_op(combine, (x, x + 1), ())


@sequence(numbers(4, 3), numbers(3), **LENGTHS)
def vectorizes_a_function(x: Tensor, y: Tensor) -> Tensor:
    return torch.func.vmap(lambda v: v * y.sum() + v.cumsum(0))(x)


@sequence(numbers(4, 3), numbers(3, seed=1))
def vectorizes_another_axis(x: Tensor, y: Tensor) -> Tensor:
    return torch.func.vmap(lambda v, w: v.softmax(0) * w, in_dims=(1, 0))(x, y)


@sequence(numbers(4, 3), numbers(3), **LENGTHS)
def vectorizes_scalars(x: Tensor, y: Tensor) -> Any:
    return torch.func.vmap(lambda v: (v[0] * y, v.max(), y.sum()))(x)


@sequence(numbers(4, 3), numbers(3, seed=1))
def vectorizes_pointwise_functions(x: Tensor, y: Tensor) -> Any:
    one = torch.func.vmap(lambda v: torch.special.entr(v).hypot(y).nan_to_num(0.5))
    return one(x), torch.func.vmap(lambda v: v.fmax(y).sinc() + v.logit(0.1))(x)


@sequence(numbers(4, 3), numbers(5, 3, seed=1))
def vectorizes_twice(x: Tensor, y: Tensor) -> Tensor:
    one = torch.func.vmap(lambda v, w: (v - w).abs() * w, in_dims=(None, 0))
    return torch.func.vmap(one, in_dims=(0, None))(x, y)


@sequence(numbers(4, 3) > 0, torch.tensor([2, 0, 1]))
def vectorizes_a_mask(allowed: Tensor, places: Tensor) -> Tensor:
    rows = torch.arange(4)

    def one(row: Tensor, place: Tensor) -> Tensor:
        return (place <= row) & allowed[row[None], place[None]]

    columns = torch.func.vmap(one, in_dims=(None, 0))
    return torch.func.vmap(columns, in_dims=(0, None))(rows, places)
