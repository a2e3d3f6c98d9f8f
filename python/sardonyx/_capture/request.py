"""What is captured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .shapes.dynamic_shapes import DynamicShapes

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class CaptureRequest:
    """A model, its example inputs, which of their dimensions are dynamic, and what receives a line
    for each step."""

    model: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    dynamic: DynamicShapes
    report: Callable[[str], None]

    @property
    def inputs(self) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """The positional and keyword inputs of the example."""
        return self.args, self.kwargs
