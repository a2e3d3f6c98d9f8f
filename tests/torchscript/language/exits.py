"""In-place writes in loops that end early: TorchScript writes their variables as set or not."""

import torch
from torch import Tensor

from .table import ROWS, case, grid

MORE = (*ROWS, (grid(7, low=0.5),), (grid(9, low=-9.0),))


@case(*MORE)
def summed_until_enough(x: Tensor) -> Tensor:
    total = torch.zeros(x.size(1))
    i = 0
    while True:
        if i >= x.size(0):
            break
        total += x[i]
        i += 1
        if float(total.sum()) > 3.0:
            break
    return total


@case(*MORE)
def written_and_returned(x: Tensor) -> Tensor:
    total = torch.zeros(x.size(1))
    made = torch.zeros_like(x)
    for i in range(x.size(0)):
        if float(x[i].sum()) < 0.5:
            continue
        total += x[i]
        made[i] = total
        if float(total.sum()) > 3.0:
            return made
        made[i] *= 2
    return made - 1


@case(*MORE)
def left_from_an_inner_loop(x: Tensor) -> tuple[Tensor, int]:
    made = x * 1
    count = 0
    for i in range(x.size(0)):
        for j in range(x.size(1)):
            if float(x[i, j]) > 1.0:
                break
            made[i, j] = float(count)
            count += 1
        if count > 9:
            break
    return made, count
