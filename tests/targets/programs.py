"""Small programs for a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.export import Dim

from tests.harness.exporting import capture, export


class Program(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def exported(target: str, function: Callable[..., Any], *args: torch.Tensor, axis: int = 0) -> Any:
    """With one axis of the arguments free where it is as long as the first one's; any axis but 0 is
    odd."""
    size = Dim("size", min=2, max=64)
    free = {axis: size if axis == 0 else 2 * size - 1}
    shapes = (tuple(free if x.shape[axis] == args[0].shape[axis] else None for x in args),)
    return export(capture(Program(function), args, None, shapes), target_runtime=target)
