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


class _Joined(torch.nn.Module):
    def forward(self, one: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return torch.cat([one.expand(rows.shape[0], -1), rows], 1)


@pytest.mark.filterwarnings("ignore::sardonyx.errors.SpecializationWarning")
@pytest.mark.parametrize("dims", [("n", "k"), (torch.export.Dim.AUTO,) * 2])
def test_a_dimension_that_is_expanded_to_another_input_takes_the_example(
    dims: tuple[object, object],
) -> None:
    one = torch.arange(4.0).reshape(1, 4)
    shapes = tuple({0: dim} for dim in dims)
    program = sardonyx.export(_Joined(), (one, torch.ones(3, 2)), dynamic_shapes=shapes)
    for count in (3, 5):
        rows = torch.ones(count, 2)
        torch.testing.assert_close(program(one, rows)[0], _Joined()(one, rows))
