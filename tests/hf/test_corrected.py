"""Sizes that configurations leave out, and that the first product asks for."""

from __future__ import annotations

import pytest
import torch

from sardonyx.hf.corrected import corrected
from sardonyx.hf.example import BATCH, Example, noise


def error_of(module: torch.nn.Module, example: Example) -> Exception:
    (value,) = example.make(2, 12).values()
    with pytest.raises(RuntimeError) as raised:
        module(value)
    return raised.value


def test_the_width_of_frames() -> None:
    example = noise("input_features", (12, 20), {0: BATCH, 1: "feature_length"})
    better = corrected(example, error_of(torch.nn.Linear(80, 3), example))
    assert better is not None
    assert better.make(3, 12)["input_features"].shape == (3, 12, 80)
    assert better.dims == example.dims


def test_the_channels_of_a_convolution() -> None:
    example = noise("input_features", (20, 12), {0: BATCH, 2: "feature_length"})
    better = corrected(example, error_of(torch.nn.Conv1d(40, 3, 3), example))
    assert better is not None
    assert better.make(2, 12)["input_features"].shape == (2, 40, 12)


def test_an_axis_that_varies_stays() -> None:
    example = noise("input_features", (20, 12), {0: BATCH, 2: "feature_length"})
    assert corrected(example, error_of(torch.nn.Linear(80, 3), example)) is None


def test_other_errors_say_nothing() -> None:
    example = noise("input_features", (20, 12), {0: BATCH})
    assert corrected(example, ValueError("what is this?")) is None


def test_lengths_of_whole_pieces() -> None:
    example = noise("input_values", (20,), {0: BATCH, 1: "audio_sequence_length"})
    error = ValueError("`input_values` length 20 is not a multiple of 16. Pad it.")
    better = corrected(example, error)
    assert better is not None
    assert better.lengths == (16, 32)
