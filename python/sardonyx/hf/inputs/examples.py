"""Example inputs, made from what forward() takes and what the configuration says of sizes.

Nothing here knows an architecture. Where a configuration leaves a choice open (are features
[batch, bins, length] or [batch, length, bins]?) there are several examples, and the first that the
model takes is right.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from sardonyx.hf.base.example import (
    BATCH,
    LENGTH,
    Dims,
    Example,
    Tensors,
    noise,
    random_values,
    token_ids,
)
from sardonyx.hf.base.settings import all_settings, setting

from .docstring_inputs import completed
from .image_inputs import pictures

if TYPE_CHECKING:
    from sardonyx.hf.base.tasks import Task

_ROWS = {0: BATCH, 1: LENGTH}
_CHOICES = 4
# Tasks whose models look at images and texts at once, by the beginning of their names.
_TEXT_AND_IMAGES = ("zero-shot", "visual-", "document-", "image-text", "image-classification")


def examples(model: torch.nn.Module, config: Any, task: Task | None = None) -> Iterator[Example]:
    """What the model may take, likeliest first."""
    for example in _plain_examples(model, config, task):
        yield from completed(example, model, config)
    accepted = set(inspect.signature(model.forward).parameters)
    blind = _of_both(task) and any(True for _ in pictures(accepted, config))
    for example in completed(None, model, config):
        if blind and not any("pixel" in name for name in example.dims):
            # A text alone would leave out what such a model looks at.
            continue
        yield example
        if "decoder_input_ids" in accepted:
            yield example.joined(_tokens_of_decoder(config))


def _of_both(task: Task | None) -> bool:
    return task is not None and task.name.startswith(_TEXT_AND_IMAGES)


def _plain_examples(model: torch.nn.Module, config: Any, task: Task | None) -> Iterator[Example]:
    """Of texts, images, sounds and series, without what else a model may ask for."""
    accepted = set(inspect.signature(model.forward).parameters)
    choices = task is not None and task.name == "multiple-choice"
    text = text_inputs(accepted, config, choices=choices)
    images = list(pictures(accepted, config))
    both = _of_both(task)
    # Pages are looked at, too, where a model takes where their words stand.
    pages = "bbox" in accepted and "decoder_input_ids" not in accepted
    if text is not None and (both or pages):
        yield from (text.joined(image) for image in images)
    if text is not None and "decoder_input_values" in accepted:
        yield text.joined(_spectrum_of_decoder(accepted, config))
    # A text alone would leave out what such a model looks at.
    if text is not None and not (images and both):
        yield text
    for image in images:
        if {"input_points", "input_labels"} <= accepted:
            yield image.joined(_points())
        yield image
        if "decoder_input_ids" in accepted:
            yield image.joined(_tokens_of_decoder(config))
    if text is not None and not both:
        yield from (text.joined(image) for image in images)
    sounds = (
        *_spectra_and_waves(accepted, config),
        *_features(accepted, config),
        *_waves(accepted, config),
    )
    for sound in sounds:
        yield sound
        if "decoder_input_ids" in accepted:
            yield sound.joined(_tokens_of_decoder(config))
    if text is not None and "decoder_input_ids" not in accepted:
        yield from (sound.joined(text) for sound in sounds)
    yield from _series(accepted, config)


def text_inputs(accepted: set[str], config: Any, choices: bool = False) -> Example | None:
    """Tokens with what belongs to them; None for a model without tokens."""
    if "input_ids" not in accepted:
        return None
    segments = setting(config, "type_vocab_size", default=0)
    beside = ("attention_mask", "bbox", "decoder_input_ids")
    names: list[str] = [name for name in beside if name in accepted]
    if "token_type_ids" in accepted and isinstance(segments, int) and segments > 1:
        names.insert(min(1, len(names)), "token_type_ids")

    def plain(batch: int, length: int) -> Tensors:
        made = {"input_ids": token_ids(config, batch, length)}
        for name in names:
            made[name] = _beside_tokens(name, config, batch, length)
        return made

    def several(batch: int, length: int) -> Tensors:
        rows = plain(batch * _CHOICES, length)
        return {name: each.unflatten(0, (batch, _CHOICES)) for name, each in rows.items()}

    lengths = _lengths(config)
    if choices:
        axes = {0: BATCH, 1: "num_choices", 2: LENGTH}
        return Example(several, dict.fromkeys(("input_ids", *names), axes), lengths)
    dims: Dims = dict.fromkeys(("input_ids", *names), _ROWS)
    if "decoder_input_ids" in names:
        dims["decoder_input_ids"] = {0: BATCH, 1: "decoder_sequence_length"}
    return Example(plain, dims, lengths)


def _lengths(config: Any) -> tuple[int, int]:
    """Two lengths of texts: some models of texts and images take no more than 16 tokens."""
    longest = setting(config, "max_position_embeddings", default=17)
    if not isinstance(longest, int) or not 5 <= longest < 17:
        return 12, 17
    return longest - 2, longest


def _beside_tokens(name: str, config: Any, batch: int, length: int) -> torch.Tensor:
    if name == "attention_mask":
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[-1, length - 2 :] = 0  # padding, so that what the mask does stays in the program
        return mask
    if name == "bbox":
        generator = torch.Generator().manual_seed(1)
        corners = torch.randint(0, 50, (batch, length, 2), generator=generator)
        return torch.cat([corners, corners + 20], dim=-1)
    if name == "decoder_input_ids":
        return token_ids(config, batch, length, seed=1)
    return torch.zeros(batch, length, dtype=torch.int64)


def _points() -> Example:
    """Where in an image what a mask is asked of lies: [batch, masks, points, 2], and whether each
    point lies in it, named as optimum does."""
    axes = {0: BATCH, 1: "point_batch_size", 2: "nb_points_per_image"}

    def make(batch: int, length: int) -> Tensors:
        shape = (batch, 2, max(2, length // 4))
        places = random_values((*shape, 2)).abs() * 10
        return {"input_points": places, "input_labels": torch.ones(shape, dtype=torch.int64)}

    return Example(make, {"input_points": axes, "input_labels": axes})


def _tokens_of_decoder(config: Any) -> Example:
    return Example(
        lambda batch, _: {"decoder_input_ids": token_ids(config, batch, 7)},
        {"decoder_input_ids": {0: BATCH, 1: "decoder_sequence_length"}},
    )


_BINS = (
    "num_mel_bins",
    "feature_projection_input_dim",
    "input_feat_per_channel",
    "feature_size",
    "input_dim",
    "input_size",
)
_SOUND_MASKS = ("attention_mask", "input_features_mask", "padding_mask")


# Samples for each frame of a spectrum; models that look at both say how many there should be.
_EACH = 50


def _features(accepted: set[str], config: Any) -> Iterator[Example]:
    """Spectra: [batch, bins, length], of a fixed length where positions are counted, or turned."""
    if "input_features" not in accepted:
        return
    counts = _counts_of_bins(config)
    positions = setting(config, "max_source_positions")
    masks = [name for name in _SOUND_MASKS if name in accepted]
    lengths = _lengths_of_sounds(config)
    if positions is not None:
        for bins in counts:
            yield from _of_length(bins, 2 * positions, masks)
    for bins, last in itertools.product(counts, (True, False)):
        yield _spectra(bins, last, masks, lengths)
    if masks:
        # Masks that are of what the model makes of the sound may be left out.
        for bins, last in itertools.product(counts, (True, False)):
            yield _spectra(bins, last, (), lengths)
    for bins in counts:
        # Pictures of the sound, of a length that the model makes of shorter ones.
        axes = {0: BATCH, 2: "feature_length"}
        yield noise("input_features", (1, 64, bins), axes)


def _counts_of_bins(config: Any) -> list[int]:
    return [each for each in all_settings(config, *_BINS) if isinstance(each, int)] or [80, 128]


def _spectra_and_waves(accepted: set[str], config: Any) -> Iterator[Example]:
    """A sound's spectrum and the sound itself, for models that look at both. How many samples there
    are for each frame is not known here, but found out of what a model says to wrong numbers."""
    if not {"input_features", "input_values"} <= accepted:
        return
    masks = [name for name in ("input_features_mask",) if name in accepted]
    for wave in _waves(accepted, config):
        for bins in _counts_of_bins(config):
            yield _spectra(bins, True, masks, _lengths_of_sounds(config)).joined(_longer(wave))


def _longer(wave: Example) -> Example:
    return replace(wave, make=lambda batch, length: wave.make(batch, _EACH * length))


def _lengths_of_sounds(config: Any) -> tuple[int, int]:
    """Two lengths of spectra: some models cut them into windows of twice a number, all of which
    have to be whole, or into blocks, of which every second state is to fill several, too."""
    if isinstance(window := setting(config, "n_window"), int):
        together = setting(config, "n_window_infer")
        whole = together if isinstance(together, int) else 2 * window
        return whole, 2 * whole
    if isinstance(block := setting(config, "context_size"), int):
        return 4 * block + block // 4, 6 * block + block // 4
    return 64, 96


def _spectra(bins: int, last: bool, masks: Sequence[str], lengths: tuple[int, int]) -> Example:
    """Spectra of either length, the bins the last axis or the one before, with these masks."""

    def make(batch: int, length: int) -> Tensors:
        shape = (batch, length, bins) if last else (batch, bins, length)
        ones = torch.ones(batch, length, dtype=torch.int64)
        return {"input_features": random_values(shape)} | dict.fromkeys(masks, ones)

    dims: Dims = {"input_features": {0: BATCH, (1 if last else 2): "feature_length"}}
    dims |= {mask: {0: BATCH, 1: "feature_length"} for mask in masks}
    return Example(make, dims, lengths)


def _of_length(bins: int, length: int, masks: Sequence[str]) -> Iterator[Example]:
    """Spectra [batch, bins, length] of one length, without a mask and with one."""
    plain = noise("input_features", (bins, length), {0: BATCH})
    yield plain
    if masks:

        def make(batch: int, _: int) -> Tensors:
            return dict.fromkeys(masks, torch.ones(batch, length, dtype=torch.int64))

        yield plain.joined(Example(make, {mask: {0: BATCH} for mask in masks}))


def _waves(accepted: set[str], config: Any) -> Iterator[Example]:
    """Sound as it is: [batch, samples], spectra of a fixed length, or channels of samples."""
    if "input_values" not in accepted:
        return
    bins, longest = setting(config, "num_mel_bins"), setting(config, "max_length")
    if bins is not None and longest is not None:
        yield noise("input_values", (longest, bins), {0: BATCH})
    channels = setting(config, "audio_channels", default=1)
    samples = "audio_sequence_length"
    plain: Dims = {"input_values": {0: BATCH, 1: samples}}
    if "decoder_input_values" in accepted:
        yield _wave((), plain).joined(_spectrum_of_decoder(accepted, config))
    yield _wave((), plain)
    yield _wave((channels,), {"input_values": {0: BATCH, 2: samples}})
    # What goes over many frames at a time (x-vectors) takes no less.
    yield _wave((), plain, (16000, 24000))


def _spectrum_of_decoder(accepted: set[str], config: Any) -> Example:
    """Spectra [batch, length, bins] of what is spoken so far, and whose voice it is in."""
    bins = setting(config, "num_mel_bins", default=80)
    voice = setting(config, "speaker_embedding_dim")

    def make(batch: int, _: int) -> Tensors:
        made = {"decoder_input_values": random_values((batch, 6, bins))}
        if "speaker_embeddings" in accepted and isinstance(voice, int):
            made["speaker_embeddings"] = random_values((batch, voice))
        return made

    dims: Dims = {name: {0: BATCH} for name in make(1, 1)}
    dims["decoder_input_values"] = {0: BATCH, 1: "decoder_sequence_length"}
    return Example(make, dims)


def _wave(
    channels: tuple[int, ...], dims: Dims, lengths: tuple[int, int] = (3200, 4800)
) -> Example:
    def make(batch: int, length: int) -> Tensors:
        return {"input_values": random_values((batch, *channels, length))}

    return Example(make, dims, lengths)


def _series(accepted: set[str], config: Any) -> Iterator[Example]:
    """Values over time: one series or several, with what is known of the time."""
    if "past_values" not in accepted:
        return
    length = setting(config, "context_length", default=32)
    lags = setting(config, "lags_sequence", default=[0])
    channels = setting(config, "num_input_channels", default=1)
    past = length + max(lags)

    def make(batch: int, _: int) -> Tensors:
        made = {"past_values": random_values((batch, past))}
        if "past_time_features" in accepted:
            known = setting(config, "num_time_features", default=0)
            known += setting(config, "num_dynamic_real_features", default=0)
            ahead = setting(config, "prediction_length", default=8) or 8
            made["past_time_features"] = random_values((batch, past, known))
            made["past_observed_mask"] = torch.ones(batch, past)
            made["future_values"] = random_values((batch, ahead))
            made["future_time_features"] = random_values((batch, ahead, known))
        return made

    yield Example(make, {name: {0: BATCH} for name in make(1, 1)})
    yield noise("past_values", (length, channels), {0: BATCH})
