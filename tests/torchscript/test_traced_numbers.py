"""Sizes that Python takes for numbers while a model is traced, which the trace has as constants."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

import sardonyx

Program = Callable[[torch.Tensor], torch.Tensor]


class Runs(nn.Module):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.program(x)


def counts_rows(x: torch.Tensor) -> torch.Tensor:
    out = x
    for _ in range(x.shape[0]):
        out = out + 1
    return out


def repeats_a_list(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x] * x.shape[0])


def looks_up(x: torch.Tensor) -> torch.Tensor:
    return x * (1.0, 2.0, 3.0, 4.0)[x.shape[0]]


def cuts_and_views(x: torch.Tensor) -> torch.Tensor:
    return x[: x.shape[0] - 1].view(-1, x.shape[1]) + torch.arange(x.shape[1])


def told(program: Program) -> list[tuple[str, str]]:
    made = sardonyx.export(
        Runs(program), (torch.ones(3, 2),), dynamic_shapes=({0: "rows"},), capture="trace"
    )
    return [(note.code, note.function) for note in made.notes]


@pytest.mark.parametrize("program", [counts_rows, repeats_a_list, looks_up])
@pytest.mark.filterwarnings("ignore")
def test_a_size_that_python_counts_with_is_told(program: Program) -> None:
    assert told(program) == [("SX1013", program.__name__)]


@pytest.mark.filterwarnings("ignore")
def test_sizes_that_stay_sizes_are_not() -> None:
    assert told(cuts_and_views) == []


def test_tensors_are_as_before() -> None:
    before = torch.Tensor.__index__
    sardonyx.export(Runs(cuts_and_views), (torch.ones(3, 2),), capture="trace")
    assert torch.Tensor.__index__ is before
