"""squeeze() of axes that are 1 or not, as sizes decide: what follows sees either rank."""

# Annotated with typing's List and Tuple, as people write scripts.
# ruff: noqa: UP006, UP035
from typing import Tuple

import torch
from torch import Tensor, nn

from .table import case, noise

BOXES = tuple(
    (noise(*sizes),)
    for sizes in ((2, 1, 4), (2, 2, 3), (2, 2, 1), (1, 1, 1), (1, 2, 1), (3, 1, 1), (1, 5, 2))
)


@case(*BOXES)
def squeezed_axis(x: Tensor) -> Tuple[Tensor, int]:
    y = x.squeeze(1)
    return y.flatten(), y.dim()


@case(*BOXES)
def squeezed_axis_from_the_end(x: Tensor) -> Tuple[Tensor, int]:
    y = torch.squeeze(x * 2, dim=-2) + 1
    return y.sum(0).flatten(), y.size(-1)


@case(*BOXES)
def squeezed_axes(x: Tensor) -> Tuple[Tensor, int]:
    y = x.squeeze()
    return y.flatten(), y.dim()


@case(*BOXES)
def two_squeezed_axes(x: Tensor) -> int:
    return torch.squeeze(x, dim=[0, -1]).dim()


@case(*BOXES)
def squeezed_in_place_by_size(x: Tensor) -> Tensor:
    y = x + 1
    y.add_(1).squeeze_(1)
    return y.sum() * y.size(0) + y.dim()


@case(*BOXES)
def squeezed_rows_of_a_loop(x: Tensor) -> Tensor:
    y = x
    for i in range(x.size(0)):
        y = y + x[i].squeeze(0).sum()
    return y


@case(*((noise(*sizes),) for sizes in ((3, 5), (1, 5), (2, 4))))
def covariance_of_rows(x: Tensor) -> Tuple[Tensor, int]:
    y = torch.cov(x)
    return y.flatten(), y.dim() + torch.corrcoef(x).dim()


def _narrow(x: Tensor) -> Tensor:
    return x.squeeze(1)


@case(*BOXES)
def squeezed_in_a_function(x: Tensor) -> Tensor:
    y = _narrow(x + 1)
    if y.dim() == 2:
        y = y + 10
    return y.sum(0).flatten()


@case(*BOXES)
class SqueezedInAModule(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.flat = nn.Flatten(0)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.flat(_narrow(x) * 3)
        return y


@case((torch.tensor([1]), torch.tensor([4])), (torch.tensor([3]), torch.tensor([4])))
def squeezed_sizes_of_data(rows: Tensor, columns: Tensor) -> int:
    height, width = int(rows[0]), int(columns[0])
    return torch.ones(height, width).squeeze(0).dim()
