"""Sizes of images that more hangs on than PyTorch can compute with, or that are made numbers."""

from __future__ import annotations

import pytest
import torch

from sardonyx import _native
from sardonyx.hf.base.parts import Part
from sardonyx.hf.conversion import graphs
from sardonyx.hf.conversion.graphs import ExportTarget, captured


class _Windows(torch.nn.Module):
    """Windows of 7 in stages of half the size, each of which pads its image, as Swin's do."""

    def forward(self, inputs: dict[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        image = inputs["pixel_values"]
        for _ in range(4):
            height, width = image.shape[2:]
            below, beside = (7 - height % 7) % 7, (7 - width % 7) % 7
            image = torch.nn.functional.pad(image, (0, beside, 0, below))
            windows = image.unflatten(3, (-1, 7)).unflatten(2, (-1, 7))
            means = windows.mean((3, 5), keepdim=True).expand_as(windows)
            image = means.reshape(image.shape)[:, :, :height:2, :width:2]
        return (image,)


def _assert_sizes_are_the_examples(model: torch.nn.Module, output: str) -> None:
    """Height and width, with a note, and not how many rows there are."""
    inputs = {"pixel_values": torch.randn(2, 1, 64, 48)}
    axes = {0: "batch_size", 2: "height", 3: "width"}
    part = Part("model", model, inputs, {"pixel_values": axes}, (output,))

    got, program, notes = captured(part, ExportTarget())

    assert got.dims == {"pixel_values": {0: "batch_size"}}
    assert [note.rpartition(": ")[2] for note in notes] == ["height, width"]
    bounds = [_native.bounds(program._native, "pixel_values", axis) for axis in (0, 2, 3)]
    assert bounds[0][0] < bounds[0][1]
    assert bounds[1:] == [(64, 64), (48, 48)]


def test_such_sizes_are_those_of_the_example_and_rows_stay_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graphs, "_MAX_TERMS", 150)  # is soon reached
    _assert_sizes_are_the_examples(_Windows(), "image")


def test_so_they_are_where_all_that_is_asked_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "_MAX_IN_ALL", 1000)
    _assert_sizes_are_the_examples(_Windows(), "image")


class _Places(torch.nn.Module):
    """A number for each of so many patches, whatever the image's size is."""

    def __init__(self) -> None:
        super().__init__()
        self.places = torch.nn.Parameter(torch.arange(12.0))

    def forward(self, inputs: dict[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        patches = torch.nn.functional.avg_pool2d(inputs["pixel_values"], 16)
        return (patches.flatten(2) + self.places,)


def test_sizes_of_which_a_number_is_taken_are_those_of_the_example() -> None:
    _assert_sizes_are_the_examples(_Places(), "patches")
