"""Tensors of one element where TorchScript's types say a number."""

import torch
from torch import Tensor

from .table import SIGNS, case, grid, noise, number

COUNTS = ((noise(6), torch.tensor([1, 2, 3])), (noise(5), torch.tensor([5])))


@case(*COUNTS)
def padded_by_counts(x: Tensor, counts: Tensor) -> Tensor:
    made = torch.zeros([len(counts), int(counts.max())])
    start = 0
    for i, count in enumerate(counts):
        made[i, :count] = x[start : start + count]
        start = start + count
    return made


@case(*((x, torch.tensor(n)) for (x,), n in zip(SIGNS, (1, 2, 1), strict=True)))
def int_of_a_branch(x: Tensor, n: Tensor) -> Tensor:
    count = 1
    if bool(x.sum() > -5):
        count = n
    return x.narrow(1, 0, count)


@case((grid(3), number(2.0)), (grid(5), number(0.5)))
def float_of_a_loop(x: Tensor, step: Tensor) -> Tensor:
    factor = 0.5
    for _ in range(x.size(0)):
        factor = factor + step
    return x * factor
