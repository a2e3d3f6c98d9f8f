"""Weights that stand in for those of a checkpoint, which nobody has read yet."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def some_weights(model: torch.nn.Module) -> Iterator[None]:
    """Within it, the parameters hold numbers as those of fresh layers are; what held them before is
    neither read nor written to."""
    former = [(parameter, parameter.data) for parameter in model.parameters()]
    generator = torch.Generator().manual_seed(0)
    try:
        for name, parameter in model.named_parameters():
            if parameter.is_floating_point():
                parameter.data = _fresh(name, parameter, generator)
        yield
    finally:
        for parameter, data in former:
            parameter.data = data


def _fresh(name: str, parameter: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Of a product's width, or what a norm begins with."""
    if parameter.dim() < 2 or not parameter.numel():
        return torch.zeros_like(parameter) if name.endswith("bias") else torch.ones_like(parameter)
    width = parameter[0].numel() ** -0.5
    return torch.empty_like(parameter).normal_(0, width, generator=generator)
