"""Sizes that configurations leave out, and that the first product asks for."""

from __future__ import annotations

import pytest
import torch
import transformers

from sardonyx.hf.base.example import BATCH, CODES, LENGTH, Example, noise, token_ids
from sardonyx.hf.inputs.shape_repair import corrected

_PLAIN = transformers.PretrainedConfig()


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


def test_lengths_that_belong_together() -> None:
    """The sound has so many samples for each frame of its spectrum as make one piece of it."""
    example = Example(
        lambda batch, length: {
            "input_features": torch.zeros(batch, length, 8),
            "input_values": torch.zeros(batch, 1, 50 * length),
        },
        {"input_features": {0: BATCH, 1: "frames"}, "input_values": {0: BATCH, 2: "samples"}},
        (64, 96),
    )
    made = example.make(2, 64)
    pieces = made["input_values"].unflatten(2, (-1, 320)).squeeze(1)
    with pytest.raises(RuntimeError) as raised:
        torch.cat([made["input_features"].transpose(1, 2), pieces.transpose(1, 2)], 1)
    better = corrected(example, raised.value)
    assert better is not None
    assert better.make(3, 96)["input_values"].shape == (3, 1, 96 * 320)
    assert better.dims == example.dims


def test_tokens_that_are_frames_of_codes() -> None:
    ids = token_ids(_PLAIN, 2, 12)
    text = Example(lambda batch, length: {"input_ids": ids}, {"input_ids": {0: BATCH, 1: LENGTH}})
    with pytest.raises(RuntimeError) as raised:
        ids + torch.arange(33)
    better = corrected(text, raised.value)
    assert better is not None
    assert better.make(2, 12)["input_ids"].shape == (2, 12, 33)


def test_a_decoder_that_takes_frames_of_codes() -> None:
    both = Example(
        lambda batch, length: {
            "input_ids": token_ids(_PLAIN, batch, length),
            "decoder_input_ids": token_ids(_PLAIN, batch, length),
        },
        {name: {0: BATCH, 1: LENGTH} for name in ("input_ids", "decoder_input_ids")},
    )
    with pytest.raises(RuntimeError) as raised:
        both.make(2, 12)["decoder_input_ids"].reshape(2, 9, -1)
    better = corrected(both, raised.value)
    assert better is not None
    made = better.make(2, 12)
    assert made["input_ids"].shape == (2, 12)
    assert made["decoder_input_ids"].shape == (2, 12, 9)
    # Which code is which matters.
    assert not torch.equal(made["decoder_input_ids"][..., 0], made["decoder_input_ids"][..., 1])


def test_codes_as_rows_beside_each_other() -> None:
    text = Example(
        lambda batch, length: {"input_ids": token_ids(_PLAIN, batch, length)},
        {"input_ids": {0: BATCH, 1: LENGTH}},
    )
    with pytest.raises(RuntimeError) as raised:
        text.make(2, 12)["input_ids"].reshape(-1, 9, 12)
    better = corrected(text, raised.value)
    assert better is not None
    rows = better.make(2, 12)["input_ids"]
    assert rows.shape == (18, 12)
    assert torch.equal(rows[0], text.make(2, 12)["input_ids"][0])
    assert better.dims["input_ids"] == {0: CODES, 1: LENGTH}


def test_images_of_the_side_that_a_model_of_timm_says() -> None:
    videos = noise("pixel_values_videos", (4, 3, 64, 64), {0: BATCH})
    better = corrected(videos, AssertionError("Input height (64) doesn't match model (56)."))
    assert better is not None
    assert better.make(2, 12)["pixel_values_videos"].shape == (2, 4, 3, 56, 56)
