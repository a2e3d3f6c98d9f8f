"""Tensors that loops write to in place."""

# The types that TorchScript reads.
# Annotated with typing's List and Dict, as people write scripts.
# ruff: noqa: UP006, UP035
from typing import List

import torch
from torch import Tensor

from .table import ROWS, case


@case(*ROWS)
def sums_so_far(x: Tensor) -> Tensor:
    out = torch.zeros_like(x)
    total = torch.zeros(x.size(1))
    for i in range(x.size(0)):
        total += x[i]
        out[i] = total
    return out


@case(*ROWS)
def sums_in_a_list(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    sums: List[Tensor] = []
    for i in range(x.size(0)):
        total += x[i]
        sums.append(total.clone())
    return torch.stack(sums)


@case(*ROWS)
def counted_in_a_tensor(x: Tensor) -> Tensor:
    i = torch.zeros((), dtype=torch.long)
    n = torch.tensor(x.size(0))
    total = torch.zeros(4)
    while bool(i < n):
        total = total + x[i]
        i += 1
    return total


@case(*ROWS)
def written_then_replaced(x: Tensor) -> Tensor:
    first = torch.zeros(4)
    total = first
    for i in range(x.size(0)):
        total += x[i]
        total = total * 2
    return total + first * 100


@case(*ROWS)
def written_and_swapped(x: Tensor) -> Tensor:
    a, b = x * 1, x * 2
    for i in range(x.size(0)):
        c = a
        a = b
        b = c
        a.add_(i + 1)
    return a + b * 100


@case(*ROWS)
def written_once_more_behind(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for i in range(x.size(0)):
        total += x[i]
    total *= 3
    total[0] = 1
    return total


@case((torch.arange(12.0).reshape(3, 4), -1), (torch.arange(12.0).reshape(3, 4), 1))
def written_from_either_end(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    y[n] = 5
    y[n:] += 1
    y[:n, 1] = 7
    return torch.cat([y, x[n:], x.narrow(0, n, 1), x.select(0, n).unsqueeze(0)])
