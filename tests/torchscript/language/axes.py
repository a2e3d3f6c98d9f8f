"""Axes, steps of slices and numbers of classes that are known only at run time."""

# Annotated with typing's List and Tuple, as people write scripts.
# ruff: noqa: UP006, UP035
from typing import List, Tuple

import torch
from torch import Tensor
from torch.nn import functional

from .table import case, grid

# Each axis of a matrix, counted from either end.
AXES = ((grid(6), 1), (grid(9), 0), (grid(4), -1), (grid(4), -2))
# As many as a matrix has once it has one more.
PLACES = (*AXES, (grid(4), -3), (grid(3), 2))


@case(*AXES)
def sum_along(x: Tensor, axis: int) -> Tensor:
    return x.sum(dim=axis, keepdim=True)


@case(*AXES)
def most_along(x: Tensor, axis: int) -> Tuple[Tensor, Tensor]:
    most, places = x.max(axis, keepdim=True)
    return most, places.float().mean()


@case(*AXES)
def joined_along(x: Tensor, axis: int) -> Tensor:
    return torch.cat([x, x * 2], dim=axis)


@case(*AXES)
def size_along(x: Tensor, axis: int) -> Tuple[int, Tensor]:
    return x.size(axis), x / x.size(axis)


@case(*PLACES)
def a_new_axis(x: Tensor, axis: int) -> Tensor:
    return x.unsqueeze(axis)


@case(*PLACES)
def stacked_along(x: Tensor, axis: int) -> Tensor:
    return torch.stack([x, x + 1], axis)


@case((grid(4), 0, 1), (grid(4), 1, 0), (grid(7), -1, -1))
def two_axes_change_places(x: Tensor, first: int, second: int) -> Tensor:
    return x.transpose(first, second)


@case(*AXES)
def turned_about(x: Tensor, axis: int) -> Tensor:
    for i in range(x.dim()):
        x = x.cumsum(i)
    return x.flip(axis)


@case((grid(6), 2), (grid(9), 3), (grid(4), 1), (grid(0), 2))
def steps_along(x: Tensor, step: int) -> List[Tensor]:
    return [x[::step] * 2, x[1:-1:step, ::step], x[:5].t()[:, ::step]]


@case((grid(6), 2), (grid(9), 3), (grid(4), 1))
def written_in_steps(x: Tensor, step: int) -> Tensor:
    y = x.clone()
    y[::step] = 7.0
    return y


@case((torch.tensor([0, 2, 1]), 3), (torch.tensor([4]), 6), (torch.tensor([0, 1]), 2))
def classes_of_a_run(x: Tensor, classes: int) -> Tuple[Tensor, Tensor]:
    return functional.one_hot(x, classes), functional.one_hot(x)
