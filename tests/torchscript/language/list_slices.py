"""Slices of lists, from both ends, and all() and any() of lists. Their length is known only at run
time."""

# ruff: noqa: FURB187, RUF005, UP006, UP035
from typing import List, Tuple

import torch
from torch import Tensor

from .table import ROWS, case, grid


@case(*ROWS)
def every_second(x: Tensor) -> Tensor:
    rows = [x[i] for i in range(x.size(0))]
    return torch.stack(rows[::2] + rows[-2:] + rows[:-1] + rows[1:4:2])


@case(*ROWS)
def turned_round(x: Tensor) -> Tensor:
    rows = [x[i] for i in range(x.size(0))]
    rows = rows[::-1]
    rows = rows[1:] + rows[:1]
    return torch.stack(rows)


@case(*ROWS)
def from_the_end(x: Tensor) -> Tensor:
    rows = [x[i] for i in range(x.size(0))]
    made = rows[3:0:-1] + rows[-2::-1] + rows[:1:-2] + rows[10:-10:-3] + rows[-1:-3:-1]
    return torch.stack(made + [x[0]])


@case((grid(5), 2), (grid(6), -2), (grid(2), 4), (grid(1), -4), (grid(5), -5))
def from_a_place(x: Tensor, k: int) -> Tensor:
    rows = [x[i] for i in range(x.size(0))]
    return torch.stack(rows[k::-1] + rows[:k:-1] + [x[0]])


@case(*ROWS)
def of_numbers(x: Tensor) -> Tensor:
    numbers = [i * 2 for i in range(x.size(0))]
    return torch.tensor(numbers[::-1] + numbers[1:3])


@case((grid(3, low=1.0),), (grid(5, low=-9.0),), (grid(2, low=-30.0),))
def all_and_any(x: Tensor) -> Tuple[Tensor, bool, bool]:
    flags: List[bool] = []
    for i in range(x.size(0)):
        flags.append(bool(x[i, 0] > 0))
    if all(flags):
        x = x * 2
    elif any(flags):
        x = -x
    return x, all(flags), any(flags)
