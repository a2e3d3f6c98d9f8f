"""Lists that are returned, or whose tensors differ in size, with lengths known only at run time."""

# The types that TorchScript reads, and branches as if statements.
# ruff: noqa: UP006, UP035, SIM108
from typing import List, Tuple

import torch
from torch import Tensor

from .table import ROWS, SIGNS, case, grid


@case(*ROWS)
def uneven_joined(x: Tensor) -> Tuple[Tensor, int]:
    parts: List[Tensor] = []
    for i in range(x.size(0)):
        parts.append(x[: i + 1])
    return torch.cat(parts), len(parts)


@case(*ROWS)
def uneven_by_data(x: Tensor) -> Tensor:
    parts: List[Tensor] = []
    for i in range(x.size(0)):
        parts.append(x[i, x[i] > -1])
    return torch.cat(parts)


@case(*ROWS)
def list_returned(x: Tensor) -> List[Tensor]:
    parts: List[Tensor] = []
    for i in range(x.size(0)):
        parts.append(x[i] * i)
    return parts


@case(*ROWS)
def uneven_returned(x: Tensor) -> List[Tensor]:
    parts = [x]
    for i in range(x.size(0)):
        parts.append(x[:i])
    return parts


@case(*ROWS)
def numbers_returned(x: Tensor) -> List[int]:
    numbers: List[int] = []
    for i in range(x.size(0)):
        numbers.append(i * 2)
    return numbers


@case(*SIGNS)
def uneven_of_branch(x: Tensor) -> Tuple[Tensor, int]:
    parts = [x]
    if bool(x.sum() > 0):
        parts.append(x[0:1])
    return torch.cat(parts), len(parts)


@case(*SIGNS)
def uneven_of_branches(x: Tensor) -> List[Tensor]:
    if bool(x.sum() > 0):
        parts = [x, x[:1]]
    else:
        parts = [x[:1]]
    return parts


@case((grid(2),), (grid(5),), (grid(4),))
def uneven_of_branch_in_loop(x: Tensor) -> Tensor:
    parts = [x[:1]]
    for i in range(x.size(0)):
        if bool(x[i].sum() > 0):
            parts.append(x[i:])
    return torch.cat(parts)


@case(*ROWS)
def split_into_parts(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for part in x.split(2):
        total = total * 2 + part.sum(0)
    return total


@case(*ROWS)
def split_returned(x: Tensor) -> Tuple[List[Tensor], int, Tensor]:
    parts = x.split(2)
    return parts, len(parts), parts[0]


@case((grid(4),), (grid(5),), (grid(3),))
def chunk_taken_apart(x: Tensor) -> Tuple[Tensor, Tensor]:
    first, second = x.chunk(2)
    return first * 2, second


@case(*ROWS)
def unbound_returned(x: Tensor) -> Tuple[List[Tensor], List[Tensor]]:
    return x.unbind(0), [row + 1 for row in x.unbind(0)]


@case(*ROWS)
def uneven_changed(x: Tensor) -> Tuple[Tensor, Tensor]:
    parts = [x, x[:1]]
    for i in range(x.size(0)):
        parts.append(x[i:])
    last = parts.pop()
    parts.insert(0, last)
    parts[1] = x * 2
    parts[-2] = x[:1] * 3
    return torch.cat(parts), parts[-1]


@case(*ROWS)
def uneven_extended(x: Tensor) -> Tensor:
    parts: List[Tensor] = []
    for i in range(x.size(0)):
        parts += [x[: i + 1], x]
    return torch.cat(parts)


@case(*ROWS)
def growing_kept(x: Tensor) -> Tuple[Tensor, Tensor]:
    y = x
    parts: List[Tensor] = []
    for _i in range(x.size(0)):
        y = torch.cat([y, x[:1]])
        parts.append(y)
    return parts[-1], torch.cat(parts)


@case(*ROWS)
def uneven_nested(x: Tensor) -> Tensor:
    joined: List[Tensor] = []
    for i in range(x.size(0)):
        inner: List[Tensor] = []
        for j in range(i + 1):
            inner.append(x[: j + 1])
        joined.append(torch.cat(inner))
    return torch.cat(joined)


@case(*ROWS)
def uneven_picked(x: Tensor) -> Tensor:
    parts = [x, x[:1]]
    return parts[int(x.size(0) > 3)]
