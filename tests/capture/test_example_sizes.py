"""Dimensions that are 1 in the example, and that the program is to take."""

from __future__ import annotations

import pytest
import torch

import sardonyx


class _Masked(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scores = torch.nn.Parameter(torch.arange(100.0).reshape(4, 5, 5))

    def forward(self, mask: torch.Tensor) -> torch.Tensor:
        return (self.scores + mask).softmax(-1)


@pytest.mark.filterwarnings("ignore::sardonyx.errors.SpecializationWarning")
def test_a_dimension_that_is_broadcast_stays_what_it_is_in_the_example() -> None:
    automatic = torch.export.Dim.AUTO
    shapes = (dict.fromkeys(range(4), automatic),)
    program = sardonyx.export(_Masked(), (torch.zeros(2, 1, 5, 5),), dynamic_shapes=shapes)
    mask = torch.arange(75.0).reshape(3, 1, 5, 5)
    torch.testing.assert_close(program(mask)[0], _Masked()(mask))
