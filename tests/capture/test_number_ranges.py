"""Tensors of the numbers of a `range` that ends at a size."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import sardonyx
from sardonyx._capture.patches.other_calls import SAYS_CALLS

pytestmark = pytest.mark.skipif(
    not SAYS_CALLS, reason="Python 3.10 does not say which column of its line an instruction calls"
)


class Places(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.tensor(list(range(x.shape[1])))


class PlacesBackwards(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.tensor(list(range(x.shape[1]))[::-1], device=x.device)


class FromTheLast(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.as_tensor(tuple(range(x.shape[1] + 2, 2, -1)), dtype=torch.float32)


class OddNumbers(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.tensor(range(1, 2 * x.shape[1] + 1, 2), dtype=torch.int32)


class NoMoreThanNumbers(torch.nn.Module):
    """A list that something else reads, too, is of the example's size."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = list(range(x.shape[1]))
        places.append(7)
        return x + torch.tensor(places)[:-1] + torch.tensor(list(range(len(places) - 1)))


def exported(model: torch.nn.Module) -> sardonyx.ONNXProgram:
    shapes = {"x": {0: "batch", 1: "length"}}
    return sardonyx.export(model, (torch.randn(2, 5),), dynamic_shapes=shapes)


@pytest.mark.parametrize("model", [Places, PlacesBackwards, FromTheLast, OddNumbers])
def test_the_size_stays_dynamic(model: Callable[[], torch.nn.Module]) -> None:
    program = exported(model())
    assert not program.notes
    for length in (1, 2, 6, 7):
        x = torch.randn(3, length)
        torch.testing.assert_close(program(x)[0], model()(x), rtol=0, atol=0)


def test_other_lists_are_of_the_example() -> None:
    with pytest.warns(UserWarning, match="makes it 5"):
        program = exported(NoMoreThanNumbers())
    x = torch.randn(3, 5)
    torch.testing.assert_close(program(x)[0], NoMoreThanNumbers()(x), rtol=0, atol=0)
