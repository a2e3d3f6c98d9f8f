"""Sizes and numbers that depend on the data."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .programs import Program, numbers

DATA_DEPENDENT: list[Program] = []
ROWS = ({0: torch.export.Dim.DYNAMIC},)


def depends(*example: Tensor, others: Any = (), dynamic: Any = None) -> Any:
    def register(run: Any) -> Any:
        DATA_DEPENDENT.append(Program(run.__name__, run, example, others, dynamic))
        return run

    return register


NONE, ALL = torch.zeros(5, 3), torch.ones(5, 3)
CASES: Any = {
    "others": ((numbers(5, 3, seed=4),), (ALL,), (numbers(8, 3, seed=2),)),
    "dynamic": ROWS,
}


@depends(numbers(5, 3), **CASES)
def finds_places(x: Tensor) -> Any:
    return x.nonzero(), (x > 0).nonzero().sum(0), torch.argwhere(x > 0.5).shape[0]


@depends(numbers(5, 3), others=((NONE - 1,), (ALL,)))
def finds_no_place(x: Tensor) -> Any:
    rows, columns = torch.where(x > 0)
    return rows, columns * 2, x[rows, columns]


@depends(numbers(5, 3), **CASES)
def selects_by_a_mask(x: Tensor) -> Any:
    chosen = x[x > 0]
    return chosen, chosen.sum(), torch.masked_select(x, x < 0).exp()


@depends(numbers(5, 3), **CASES)
def selects_rows_by_a_mask(x: Tensor) -> Any:
    rows = x[x.sum(1) > 0]
    return rows @ x.t(), rows.mean(0), rows.shape[0] + 1


@depends(numbers(5, 3), **CASES)
def writes_where_a_mask_holds(x: Tensor) -> Tensor:
    x = x.clone()
    mask = x > 0
    x[mask] = x[mask] * 2 + 1
    return x


@depends(numbers(5, 3), **CASES)
def writes_rows_where_a_mask_holds(x: Tensor) -> Tensor:
    x = x.clone()
    mask = x[:, 0] > 0
    x[mask, 1:] = x[mask, 1:].cumsum(0)
    x[~mask] += 10
    return x


@depends(torch.tensor(3), others=((torch.tensor(0),), (torch.tensor(7),)))
def counts_up_to_an_item(n: Tensor) -> Any:
    size = n.item()
    torch._check(size >= 0)
    torch._check(size <= 100)
    return torch.arange(size) * 2, torch.zeros(size, 2), size * 3


@depends(torch.tensor([2, 3]), others=((torch.tensor([4, 1]),), (torch.tensor([1, 1]),)))
def makes_what_a_list_says(sizes: Tensor) -> Any:
    rows, columns = sizes.tolist()
    torch._check(rows >= 0)
    torch._check(columns >= 0)
    return torch.ones(rows, columns).cumsum(0), rows * columns


@depends(numbers(6, 3), torch.tensor(2), others=((numbers(6, 3), torch.tensor(5)),))
def slices_by_an_item(x: Tensor, n: Tensor) -> Any:
    size = n.item()
    torch._check(size >= 0)
    torch._check(size <= x.shape[0])
    return x[:size], x.narrow(0, 0, size) * 2


@depends(numbers(6, 3), torch.tensor(2), others=((numbers(6, 3), torch.tensor(5)),))
def writes_at_an_item(x: Tensor, n: Tensor) -> Tensor:
    x = x.clone()
    place = n.item()
    torch._check(place >= 0)
    torch._check(place < x.shape[0])
    x[place] = 7
    x[:place] += 1
    return x


@depends(numbers(6, 3), torch.tensor([2, 1, 3]), others=((numbers(6, 3), torch.tensor([1, 4, 1])),))
def splits_by_a_list(x: Tensor, sizes: Tensor) -> Any:
    a, b, c = sizes.tolist()
    for each in (a, b, c):
        torch._check(each >= 0)
    torch._check(a + b + c == 6)
    return [part.sum(0) for part in x.split([a, b, c])]


@depends(torch.tensor(2.5), others=((torch.tensor(-1.0),),))
def scales_by_an_item(x: Tensor) -> Tensor:
    return torch.ones(3) * x.item() + 1


@depends(numbers(5, 3), **CASES)
def chains_what_depends(x: Tensor) -> Any:
    rows = x[x[:, 0] > 0]
    fewer = rows[rows[:, 1] > 0]
    return torch.cat([rows, fewer]), fewer.nonzero().shape[0]


@depends(numbers(5, 3) + 3, others=((numbers(5, 3, seed=1) + 3,),))
def asserts_of_its_data(x: Tensor) -> Tensor:
    torch._assert_async((x > -10).all(), "x is above -10")
    return x * 2
