"""Complex numbers, which archives write as sums: `0.+1.j`, `inf-nanj`."""

# ruff: noqa: UP006, UP035
from typing import List, Tuple

import torch
from torch import Tensor, nn

from .table import ROWS, case, grid


@case(*ROWS)
def complex_literals(x: Tensor) -> Tensor:
    return torch.view_as_real(x * 1j + (2.5 - 3j) - 1e-20j)


@case(*ROWS)
def complex_arithmetic(x: Tensor) -> Tuple[Tensor, bool, bool]:
    a = 1j
    b = a * 2 + 3 - (-a) / (2.0 + 0j)
    return torch.view_as_real(x * b), a == b, a != 1j


@case(*ROWS)
def complex_of_two(x: Tensor) -> Tuple[Tensor, float]:
    a = complex(1.5, -2.0)
    return torch.view_as_real(torch.full([2], a) + x[0, 0]), abs(a)


@case(*ROWS)
def complex_that_is_not_finite(x: Tensor) -> Tensor:
    return torch.view_as_real(torch.full_like(x, complex(float("inf"), -1.0), dtype=torch.cfloat))


@case(*ROWS)
def complex_tensors(x: Tensor) -> Tensor:
    return torch.view_as_real(torch.tensor(2.0 + 1j) * x)


@case((grid(2), True), (grid(3), True))
def complex_is_compared(x: Tensor, real: bool) -> Tensor:
    z = x * 2j
    return torch.view_as_real(torch.where(x > 0, z, 3 - 2j)) + torch.eq(z, 0j).float().unsqueeze(-1)


@case(*ROWS)
class ComplexAttributes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one: complex = 2 - 3j
        self.several: List[complex] = [1j, complex("inf")]

    def forward(self, x: Tensor) -> Tensor:
        return torch.view_as_real(x * self.one + self.several[0])
