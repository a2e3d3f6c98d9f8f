"""torch.cond."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .operators import cond
from .programs import DYNAMIC, ROWS, Program, joins, negative, numbers, positive

BRANCHES: list[Program] = []
branch = joins(BRANCHES)

UP, DOWN = positive(4, 3), negative(4, 3)
SIGNS: Any = {"others": ((DOWN,),)}
# Inputs for both branches, and for both at another number of rows.
SIGNS_AND_ROWS: Any = {
    "others": ((DOWN,), (positive(7, 3),), (negative(2, 3),)),
    "dynamic": ROWS,
}


@branch(UP, **SIGNS_AND_ROWS)
def chooses_by_the_data(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


@branch(numbers(4, 3), others=((numbers(2, 3),), (numbers(9, 3),)), dynamic=ROWS)
def chooses_by_a_size(x: Tensor) -> Tensor:
    return cond(x.shape[0] > 3, lambda x: x.sin(), lambda x: x.cos(), (x,))


@branch(torch.tensor(True), numbers(3), others=((torch.tensor(False), numbers(3)),))
def chooses_by_an_input(flag: Tensor, x: Tensor) -> Tensor:
    return cond(flag, lambda x: x * 2, lambda x: x.clone(), (x,))


@branch(torch.tensor([True]), numbers(3), others=((torch.tensor([False]), numbers(3)),))
def chooses_by_a_flag_of_one_element(flag: Tensor, x: Tensor) -> Tensor:
    return cond(flag.all(), lambda x: x * 2, lambda x: x.neg(), (x,))


@branch(UP, **SIGNS_AND_ROWS)
def gives_several_results(x: Tensor) -> Any:
    return cond(
        x.sum() > 0,
        lambda x: (x + 1, x.sum(), x > 0),
        lambda x: (x - 1, x.prod(), x < -1),
        (x,),
    )


@branch(UP, **SIGNS)
def gives_a_dictionary(x: Tensor) -> Any:
    return cond(
        x.sum() > 0,
        lambda x: {"a": x + 1, "b": (x[0] * 1, x[1:].clone())},
        lambda x: {"a": x - 1, "b": (x[1] * 1, x[:3].clone())},
        (x,),
    )


@branch(UP, numbers(4, 3, seed=5), others=((DOWN, numbers(4, 3, seed=6)),))
def captures_what_is_outside(x: Tensor, y: Tensor) -> Tensor:
    z = y * 3
    return cond(x.sum() > 0, lambda x: x @ z.t(), lambda x: y @ x.t(), (x,))


@branch(UP, **SIGNS)
def captures_everything(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, lambda: x.exp() + 1, lambda: x.abs().sqrt(), ())


@branch(
    UP,
    others=((DOWN,), (UP * 100,), (DOWN * 100,), (positive(6, 3),), (negative(6, 3) * 100,)),
    dynamic=ROWS,
)
def nests(x: Tensor) -> Tensor:
    def inner(x: Tensor) -> Tensor:
        return cond(x.abs().max() > 20, lambda x: x / 100, lambda x: x * 2, (x,))

    def other(x: Tensor) -> Tensor:
        return cond(x.abs().max() > 20, lambda x: x / 50, lambda x: x - 3, (x,))

    return cond(x.sum() > 0, inner, other, (x,)) + 1


@branch(torch.tensor(0), numbers(4), others=tuple((torch.tensor(i), numbers(4)) for i in (1, 2, 5)))
def is_a_switch(which: Tensor, x: Tensor) -> Tensor:
    def rest(x: Tensor) -> Tensor:
        return cond(which == 1, lambda x: x * 10, last, (x,))

    def last(x: Tensor) -> Tensor:
        return cond(which == 2, lambda x: x * 100, lambda x: x.neg(), (x,))

    return cond(which == 0, lambda x: x + 0.5, rest, (x,))


@branch(UP, **SIGNS)
def has_shapes_that_differ(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, lambda x: x[:2].clone(), lambda x: x[:3].clone(), (x,))


@branch(UP, **SIGNS)
def computes_with_shapes_that_differ(x: Tensor) -> Any:
    part = cond(x.sum() > 0, lambda x: x[:2] * 2, lambda x: x[:3] + 1, (x,))
    return part.sum(0), part.t() @ part, part.reshape(-1, 3, 1)


@branch(UP, **SIGNS)
def gives_a_number(x: Tensor) -> Any:
    count = cond(x.sum() > 0, lambda: 2, lambda: 3, ())
    return torch.arange(count), count


@branch(UP, **SIGNS_AND_ROWS)
def reshapes_by_symbolic_sizes(x: Tensor) -> Tensor:
    def up(x: Tensor) -> Tensor:
        return x.reshape(x.shape[0] * 3).view(3, x.shape[0]).t().contiguous() * x.shape[0]

    def down(x: Tensor) -> Tensor:
        return torch.cat([x[:1].expand(x.shape[0], 3), x], dim=0)[: x.shape[0]].contiguous()

    return cond(x.sum() > 0, up, down, (x,))


@branch(UP, **SIGNS_AND_ROWS)
def pads_by_symbolic_sizes(x: Tensor) -> Tensor:
    return cond(
        x.sum() > 0,
        lambda x: torch.cat([x, x.new_zeros(x.shape[0], 2)], 1),
        lambda x: torch.nn.functional.pad(x, (1, 1), value=7.0),
        (x,),
    )


@branch(positive(4, 3, dtype=torch.int64), others=((negative(4, 3, dtype=torch.int64),),))
def computes_integers(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, lambda x: x // 2, lambda x: x % 3, (x,))


@branch(positive(4, 3, dtype=torch.float64), others=((negative(4, 3, dtype=torch.float64),),))
def computes_doubles(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, lambda x: x.cumsum(0), lambda x: x.erf(), (x,))


@branch(positive(4, 3, dtype=torch.float16), others=((negative(4, 3, dtype=torch.float16),),))
def computes_halves(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, lambda x: x.softmax(1), lambda x: x + x.t().sum(), (x,))


@branch(UP, **SIGNS)
def computes_bfloats(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, lambda x: x.bfloat16() * 2, lambda x: x.bfloat16().exp(), (x,)).float()


@branch(UP, **SIGNS)
def computes_complex_numbers(x: Tensor) -> Tensor:
    z = torch.complex(x, x + 1)
    return torch.view_as_real(cond(x.sum() > 0, lambda z: z * 1j, lambda z: z + 2, (z,)))


@branch(UP, **SIGNS)
def follows_another_branch(x: Tensor) -> Tensor:
    y = cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))
    return cond(y.mean() > 0.5, lambda y: y.relu() + x, lambda y: y.neg() * x, (y,))


@branch(UP, **SIGNS)
def looks_for_places_inside(x: Tensor) -> Tensor:
    def up(x: Tensor) -> Tensor:
        return x[x > 0.5].sum()

    def down(x: Tensor) -> Tensor:
        return (x < -0.5).nonzero().sum() * 1.0

    return cond(x.sum() > 0, up, down, (x,))


@branch(UP, **SIGNS)
def writes_to_copies_inside(x: Tensor) -> Tensor:
    def up(x: Tensor) -> Tensor:
        y = x.clone()
        y[0] += 1
        y[:, 1].mul_(2)
        return y

    def down(x: Tensor) -> Tensor:
        y = torch.zeros_like(x)
        y[1:] = x[1:]
        return y

    return cond(x.sum() > 0, up, down, (x,))


@branch(UP, **SIGNS)
def writes_to_what_it_is_given(x: Tensor) -> Any:
    y = x.clone()

    def up(y: Tensor) -> Tensor:
        y[0].add_(1)
        return y.sum()

    def down(y: Tensor) -> Tensor:
        y.mul_(2)
        return y.sum() + 1

    total = cond(x.sum() > 0, up, down, (y,))
    return total, y


@branch(UP, **SIGNS_AND_ROWS)
def writes_in_one_branch_only(x: Tensor) -> Any:
    y = x.clone()
    older = y[:, 1]

    def up(y: Tensor) -> Tensor:
        y.fill_(5)
        return y.sum()

    total = cond(x.sum() > 0, up, lambda y: y.prod(), (y,))
    return total, y, older * 2


@branch(UP, **SIGNS)
def writes_through_a_view_from_outside(x: Tensor) -> Any:
    y = x.clone()
    row = y[1]

    def up(row: Tensor) -> Tensor:
        row.add_(3)
        return row.sum()

    def down(row: Tensor) -> Tensor:
        row[:2].zero_()
        return row.max()

    total = cond(x.sum() > 0, up, down, (row,))
    return total, y


@branch(UP, **SIGNS)
def writes_and_gives_nothing(x: Tensor) -> Tensor:
    y = x.clone()

    def up(y: Tensor) -> tuple[()]:
        y.add_(1)
        return ()

    def down(y: Tensor) -> tuple[()]:
        y.sub_(1)
        return ()

    cond(x.sum() > 0, up, down, (y,))
    return y


@branch(UP, **SIGNS)
def writes_to_its_input(x: Tensor) -> Tensor:
    def up(x: Tensor) -> Tensor:
        x[0].zero_()
        return x.sum()

    return cond(x.sum() > 0, up, lambda x: x.max(), (x,))


@branch(UP, others=((DOWN,), (UP * 100,), (DOWN * 100,)))
def writes_in_a_nested_branch(x: Tensor) -> Any:
    y = x.clone()

    def inner(y: Tensor) -> Tensor:
        y[1].neg_()
        return y.sum()

    def up(y: Tensor) -> Tensor:
        return cond(y.abs().max() > 20, inner, lambda y: y.mean(), (y,))

    def down(y: Tensor) -> Tensor:
        y.abs_()
        return cond(y.abs().max() > 20, lambda y: y.sum(), lambda y: y.amin(), (y,))

    return cond(x.sum() > 0, up, down, (y,)), y


@branch(UP, **SIGNS)
def writes_after_and_before(x: Tensor) -> Any:
    y = x.clone()
    y[0] = 1

    def up(y: Tensor) -> Tensor:
        y[1] = 2
        return y * 1

    seen = cond(x.sum() > 0, up, lambda y: y * 3, (y,))
    y[2] = 3
    return seen, y


@branch(UP, **SIGNS)
def draws_nothing_from_an_empty_part(x: Tensor) -> Tensor:
    return cond(x.sum() > 0, lambda x: x[:0].sum(0), lambda x: x[4:].sum(0) + 1, (x,))


@branch(
    numbers(2, 5, 3),
    others=((numbers(3, 5, 3),), (numbers(2, 9, 3),), (numbers(1, 7, 3),)),
    dynamic=({0: DYNAMIC, 1: DYNAMIC},),
)
def chooses_by_a_product_of_sizes(x: Tensor) -> Tensor:
    return cond(
        x.shape[0] * x.shape[1] >= 12,
        lambda x: x.flatten(0, 1).sum(0),
        lambda x: x.transpose(0, 1).flatten(0, 1).amax(0),
        (x,),
    )
