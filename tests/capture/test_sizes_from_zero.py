"""Arithmetic of sizes that sympy decides by their signs is right at a size of 0 as well."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import sardonyx
from tests.harness import difference

ARITHMETIC: dict[str, Callable[[Any], Any]] = {
    "max": lambda m: max(1 - m, 0),
    "min": lambda m: 3 + min(m - 1, 0),
    "min of a quotient": lambda m: 3 + min((m - 1) // 4, 0),
    "abs": lambda m: 2 + abs(m - 1),
}


class Ranges(nn.Module):
    def __init__(self, length: Callable[[Any], Any]) -> None:
        super().__init__()
        self.length = length

    def forward(self, x: Tensor) -> Tensor:
        return torch.arange(self.length(x.shape[0])) + x.sum()


@pytest.mark.parametrize("capture", ["quick", "torch"])
@pytest.mark.parametrize("length", ARITHMETIC.values(), ids=ARITHMETIC)
def test_empty_inputs_are_right(length: Callable[[Any], Any], capture: Any) -> None:
    model = Ranges(length)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        program = sardonyx.export(
            model, (torch.ones(4),), dynamic_shapes=({0: Dim("m", min=0)},), capture=capture
        )
    for size in (0, 1, 2, 7):
        x = torch.ones(size)
        assert not difference(program(x)[0], model(x)), size
