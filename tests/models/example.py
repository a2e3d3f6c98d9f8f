"""A model with inputs to capture it on, the dimensions that vary, and other inputs to try."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch.export import Dim, ExportedProgram

from tests.harness import Inputs, capture

Size = Literal["small", "full"]

BATCH = Dim("batch", max=4096)


def rows(longest: int, name: str = "sequence") -> dict[int, Any]:
    """Rows of up to `longest` elements: learned positions end there, and torch.export wants to be
    told. Each name is one dimension, wherever it stands."""
    return {0: BATCH, 1: _sequence(longest, name)}


@functools.cache
def _sequence(longest: int, name: str) -> Any:
    return Dim(name, min=2, max=longest)


@dataclass
class Example:
    model: torch.nn.Module
    inputs: Inputs
    dynamic_shapes: Any
    others: Sequence[Inputs] = ()
    # The exporter must capture these itself: torch.export makes their sequence static.
    capture_first: bool = True

    def captured(self) -> ExportedProgram:
        return capture(self.model, self.inputs.args, self.inputs.kwargs, self.dynamic_shapes)


@dataclass(frozen=True)
class Zoo:
    """Models by name, with what builds them."""

    builders: dict[str, Callable[[Size], Example]] = field(default_factory=dict)

    def add(self, name: str) -> Callable[[Callable[[Size], Example]], Callable[[Size], Example]]:
        def register(builder: Callable[[Size], Example]) -> Callable[[Size], Example]:
            assert name not in self.builders, name
            self.builders[name] = builder
            return builder

        return register

    def build(self, name: str, size: Size = "small") -> Example:
        torch.manual_seed(1234)
        example = self.builders[name](size)
        example.model.eval()
        if size == "small":
            unsettle(example.model)
        return example

    def __iter__(self) -> Any:
        return iter(self.builders)


ZOO = Zoo()


@torch.no_grad()
def unsettle(model: torch.nn.Module) -> None:
    """Fresh models answer much the same whatever they are asked: attention is near uniform, norms
    scale by 1, biases are 0, and a mask or a bias that was lost would go unseen. This one does
    not."""
    for parameter in model.parameters():
        if parameter.numel() == 0:
            continue  # a bias that some models have for the sake of others
        if parameter.dim() > 1:
            parameter.normal_(0, parameter[0].numel() ** -0.5)
        else:
            parameter.add_(torch.empty_like(parameter).uniform_(-0.2, 0.2))
    for module in model.modules():
        mean, variance = (getattr(module, f"running_{n}", None) for n in ("mean", "var"))
        if isinstance(mean, torch.Tensor) and isinstance(variance, torch.Tensor):
            mean.uniform_(-0.5, 0.5)
            variance.uniform_(0.5, 1.5)


def tokens(batch: int, length: int, vocabulary: int = 90) -> torch.Tensor:
    """Ids from 3 up: 0 to 2 are padding, beginning and end in most configurations."""
    return torch.randint(3, vocabulary, (batch, length))


def padding_mask(batch: int, length: int) -> torch.Tensor:
    """Every row but the first ends in padding."""
    mask = torch.ones(batch, length, dtype=torch.int64)
    for row in range(1, batch):
        mask[row, max(1, length - row) :] = 0
    return mask


def images(batch: int, height: int, width: int | None = None) -> torch.Tensor:
    return torch.randn(batch, 3, height, width or height)
