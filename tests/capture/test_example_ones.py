"""Dimensions that are 1 in the example and left to the model: dynamic where the model lets them be,
otherwise constant, as torch.export makes them, and captured by fake-tensor tracing."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._compare.tensors import Tolerance
from tests.harness import difference


class Masked(torch.nn.Module):
    """A mask that is broadcast to all heads, and others that are multiplied."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(1, heads, 1, 1))

    def forward(self, scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return (scores + self.bias + mask).softmax(-1)


AUTOMATIC = {
    "scores": {0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO},
    "mask": {0: Dim.AUTO, 1: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO},
}


def test_a_broadcast_one_is_constant_and_the_others_are_dynamic() -> None:
    model = Masked(4).eval()
    example = (torch.randn(2, 4, 5, 5), torch.randn(2, 1, 5, 5))
    made = sardonyx.export(model, example, dynamic_shapes=AUTOMATIC, capture="quick")
    for batch, rows, columns in ((2, 5, 5), (1, 3, 8), (3, 7, 2)):
        inputs = torch.randn(batch, 4, rows, columns), torch.randn(batch, 1, rows, columns)
        assert difference(made(*inputs)[0], model(*inputs), Tolerance(1e-4, 1e-5)) is None


def test_a_channel_of_one_is_constant_for_a_convolution() -> None:
    model = torch.nn.Conv1d(1, 4, 3, padding=1).eval()
    shapes = {"input": dict.fromkeys(range(3), Dim.AUTO)}
    made = sardonyx.export(model, (torch.randn(2, 1, 9),), dynamic_shapes=shapes, capture="quick")
    for batch, length in ((2, 9), (5, 4), (3, 31)):
        x = torch.randn(batch, 1, length)
        assert difference(made(x)[0], model(x), Tolerance(1e-4, 1e-5)) is None


def test_a_one_that_must_vary_is_an_error() -> None:
    model = torch.nn.Conv1d(1, 4, 3, padding=1).eval()
    shapes = {"input": {0: Dim.AUTO, 1: Dim("channels"), 2: Dim.AUTO}}
    with pytest.raises(sardonyx.errors.CaptureError):
        sardonyx.export(model, (torch.randn(1, 1, 9),), dynamic_shapes=shapes, capture="quick")


class Chunks(torch.nn.Module):
    """Goes through parts of a length, whose number is that of the example."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([part.cumsum(0) for part in torch.split(x.flatten(0, 1), 4)])


def test_a_number_of_parts_is_the_example_s_and_not_that_of_a_size_in_place_of_1() -> None:
    model, x = Chunks(), torch.randn(1, 10, 3)
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},)
    with pytest.warns(sardonyx.errors.SpecializationWarning):
        program = sardonyx.export(model, (x,), dynamic_shapes=shapes)
    for length in (9, 10, 11):
        x = torch.randn(1, length, 3)
        assert difference(torch.as_tensor(program(x)[0]), model(x)) is None, length
