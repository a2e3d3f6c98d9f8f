"""Sizes that the user left free, and that a branch of the model bounds."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.shape[0] > 4 else x - 1


class Free(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1, 2)


def bounds(model: nn.Module, rows: int, dim: Any, capture: str) -> list[str]:
    program = sardonyx.export(
        model, (torch.ones(rows, 4),), dynamic_shapes=({0: dim},), capture=capture
    )
    return [
        note.message.split("whether it is ")[1].split(":")[0]
        for note in program.notes
        if note.code == "SX1015"
    ]


@pytest.mark.parametrize("capture", ["torch", "auto"])
@pytest.mark.parametrize("dim", ["rows", Dim.DYNAMIC, Dim.AUTO])
def test_a_branch_on_a_free_size_is_told(dim: Any, capture: str) -> None:
    assert bounds(Branches(), 6, dim, capture) == ["at least 5"]
    assert bounds(Branches(), 3, dim, capture) == ["at most 4"]


@pytest.mark.parametrize("capture", ["torch", "auto"])
def test_bounds_that_the_user_said_are_not(capture: str) -> None:
    assert bounds(Branches(), 6, Dim("rows", min=5), capture) == []
    assert bounds(Branches(), 3, Dim("rows", max=4), capture) == []


@pytest.mark.parametrize("capture", ["torch", "auto"])
@pytest.mark.parametrize("dim", ["rows", Dim("rows"), Dim("rows", min=2, max=9), Dim.AUTO])
def test_sizes_that_stay_free_are_not(dim: Any, capture: str) -> None:
    assert bounds(Free(), 3, dim, capture) == []
