"""Writes at symbolic indices: `x[i, :n] = y`, which PyTorch's own code takes no SymInt for."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import torch

_BASIC = (int, torch.SymInt, slice, EllipsisType, type(None))


def is_symbolic_index(index: Any) -> bool:
    """Whether symbolic integers are among several indices that select a view."""
    if not isinstance(index, tuple) or not any(isinstance(each, torch.SymInt) for each in index):
        return False
    return all(isinstance(each, _BASIC) and not isinstance(each, bool) for each in index)


def write_at(tensor: torch.Tensor, index: Any, value: Any) -> None:
    """The write as eager PyTorch has it: the value broadcasts to the view, and may have leading
    dimensions of 1 that the view has not."""
    view = tensor[index]
    if not isinstance(value, torch.Tensor):
        view.fill_(value)
        return
    while value.dim() > view.dim() and value.shape[0] == 1:
        value = value.squeeze(0)
    view.copy_(value)
