"""Functions that run beside the others: `torch.jit.fork` and `torch.jit.wait`."""

# The types that TorchScript reads, and code as users write it.
# ruff: noqa: SIM108, UP006, UP035
from typing import List

import torch
from torch import Tensor, nn

from .table import ROWS, case, grid, noise

COUNTS = tuple((grid(rows), torch.tensor(n)) for rows, n in ((2, 2), (3, 0), (1, 5)))


def scaled(x: Tensor, by: int) -> Tensor:
    y = x * by
    if by > 2:
        y = torch.tanh(y)
    for i in range(x.size(0)):
        y = y + x[i]
    return y


@case(*ROWS)
def forked_function(x: Tensor) -> Tensor:
    first = torch.jit.fork(scaled, x, 2)
    second = torch.jit.fork(scaled, x + 1, 3)
    return torch.jit.wait(first) - torch.jit.wait(second)


@case(*ROWS)
def forked_in_place(x: Tensor) -> Tensor:
    return torch.jit.wait(torch.jit.fork(torch.relu, x)) + 1


@case(*COUNTS)
def forked_in_a_loop(x: Tensor, n: Tensor) -> Tensor:
    y = x
    for i in range(int(n)):
        y = y + torch.jit.wait(torch.jit.fork(scaled, x, i))
    return y


@case(*COUNTS)
def forked_in_a_branch(x: Tensor, n: Tensor) -> Tensor:
    if bool(n > 1):
        future = torch.jit.fork(scaled, x, 3)
    else:
        future = torch.jit.fork(torch.relu, x)
    return torch.jit.wait(future)


@case(*ROWS)
class Ensemble(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.members = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.offset = nn.Parameter(noise(4))

    def moved(self, x: Tensor, by: float) -> Tensor:
        return x + self.offset * by

    def forward(self, x: Tensor) -> Tensor:
        futures: List[torch.jit.Future[Tensor]] = []
        for member in self.members:
            futures.append(torch.jit.fork(member, x))
        futures.append(torch.jit.fork(self.moved, x, 0.5))
        total = torch.zeros_like(x)
        for future in futures:
            total = total + torch.jit.wait(future)
        return total
