"""Guesses what a model takes from its signature and configuration; the first that runs is right."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from sardonyx.hf.inputs.image_inputs import height_and_width

from .tiny import FIRST_PLAIN_TOKEN

# What varies along a dimension: "batch", "length", or nothing.
Dims = dict[str, dict[int, str]]


@dataclass(frozen=True)
class Recipe:
    """Makes keyword arguments of a given batch and length, and says which dimension is which."""

    name: str
    make: Callable[[int, int], dict[str, torch.Tensor]]
    dims: Dims
    lengths: tuple[int, ...] = (12, 17)


def recipes(model: torch.nn.Module, config: Any) -> Iterator[Recipe]:
    accepted = set(inspect.signature(model.forward).parameters)
    text = _text(accepted, config)
    pictures = list(_pictures(config)) if "pixel_values" in accepted else []
    if text is not None:
        yield text
    for recipe in pictures:
        yield recipe
    for recipe in pictures:
        if text is not None:
            yield _joined(text, recipe)
    if "input_features" in accepted:
        for recipe in _features(accepted, config):
            yield recipe
            if "decoder_input_ids" in accepted:
                yield _with_decoder(recipe, config)
    if "input_values" in accepted:
        yield from _sounds(accepted, config)
    if "past_values" in accepted:
        yield from _series(accepted, config)


def setting(config: Any, *names: str, default: Any = None) -> Any:
    """The first of `names` that the configuration or one of its parts has."""
    parts = [config]
    for part in (
        "text_config",
        "vision_config",
        "audio_config",
        "encoder",
        "encoder_config",
        "backbone_config",
        "decoder",
    ):
        inner = getattr(config, part, None)
        if inner is not None and not isinstance(inner, (int, str, dict)):
            parts.append(inner)
    for name in names:
        for part in parts:
            value = getattr(part, name, None)
            if value is not None:
                return value
    return default


def _ids(config: Any, batch: int, length: int) -> torch.Tensor:
    size = setting(config, "vocab_size", "src_vocab_size", "text_vocab_size", default=100)
    low = min(FIRST_PLAIN_TOKEN, size // 2)
    return torch.randint(low, max(low + 1, size), (batch, length))


def _text(accepted: set[str], config: Any) -> Recipe | None:
    if "input_ids" not in accepted:
        return None
    names = [n for n in ("attention_mask", "bbox", "decoder_input_ids") if n in accepted]

    def make(batch: int, length: int) -> dict[str, torch.Tensor]:
        result = {"input_ids": _ids(config, batch, length)}
        if "attention_mask" in names:
            mask = torch.ones(batch, length, dtype=torch.int64)
            mask[-1, length - 2 :] = 0
            result["attention_mask"] = mask
        if "bbox" in names:
            corners = torch.randint(0, 50, (batch, length, 2))
            result["bbox"] = torch.cat([corners, corners + 20], dim=-1)
        if "decoder_input_ids" in names:
            result["decoder_input_ids"] = _ids(config, batch, length)
        return result

    dims = {name: {0: "batch", 1: "length"} for name in ("input_ids", *names)}
    return Recipe("text", make, dims)


def _pictures(config: Any) -> Iterator[Recipe]:
    channels = setting(config, "num_channels", default=3)
    own = setting(config, "image_size", default=None)
    sides: list[Any] = [own] if own is not None else []
    sides += [64, 96, 224, 256, 512]
    frames = setting(config, "num_frames", default=None)
    for side in sides:
        height, width = height_and_width(side)
        if height is None or width is None:
            continue
        shape = (channels, height, width)
        if frames is not None:
            yield _tensor("frames", "pixel_values", (frames, *shape))
        yield _tensor("picture", "pixel_values", shape)


def _tensor(name: str, argument: str, shape: tuple[int, ...]) -> Recipe:
    def make(batch: int, length: int) -> dict[str, torch.Tensor]:
        return {argument: torch.randn(batch, *shape)}

    return Recipe(f"{name} {shape}", make, {argument: {0: "batch"}})


def _masked(recipe: Recipe, masks: Sequence[str], length: int) -> Recipe:
    def make(batch: int, other: int) -> dict[str, torch.Tensor]:
        ones = {name: torch.ones(batch, length, dtype=torch.int64) for name in masks}
        return recipe.make(batch, other) | ones

    return Recipe(recipe.name, make, recipe.dims | {name: {0: "batch"} for name in masks})


def _joined(text: Recipe, other: Recipe) -> Recipe:
    def make(batch: int, length: int) -> dict[str, torch.Tensor]:
        return text.make(batch, length) | other.make(batch, length)

    return Recipe(f"{text.name} and {other.name}", make, text.dims | other.dims)


def _features(accepted: set[str], config: Any) -> Iterator[Recipe]:
    bins = setting(
        config,
        "num_mel_bins",
        "feature_projection_input_dim",
        "input_feat_per_channel",
        "feature_size",
        "input_dim",
        default=80,
    )
    fixed = setting(config, "max_source_positions", default=None)
    masks = [n for n in ("attention_mask", "input_features_mask", "padding_mask") if n in accepted]
    if fixed is not None:
        yield _masked(_tensor("mel", "input_features", (bins, 2 * fixed)), masks, 2 * fixed)
        yield _tensor("mel", "input_features", (bins, 2 * fixed))
    for argument_last in (True, False):

        def make(batch: int, length: int, last: bool = argument_last) -> dict[str, torch.Tensor]:
            shape = (batch, length, bins) if last else (batch, bins, length)
            result = {"input_features": torch.randn(shape)}
            for name in masks:
                result[name] = torch.ones(batch, length, dtype=torch.int64)
            return result

        dims = {"input_features": {0: "batch", 1 if argument_last else 2: "length"}}
        for name in masks:
            dims[name] = {0: "batch", 1: "length"}
        yield Recipe("features", make, dims, (64, 96))


def _with_decoder(recipe: Recipe, config: Any) -> Recipe:
    def make(batch: int, length: int) -> dict[str, torch.Tensor]:
        return recipe.make(batch, length) | {"decoder_input_ids": _ids(config, batch, 7)}

    dims = recipe.dims | {"decoder_input_ids": {0: "batch"}}
    return Recipe(f"{recipe.name} and text", make, dims, recipe.lengths)


def _sounds(accepted: set[str], config: Any) -> Iterator[Recipe]:
    bins = setting(config, "num_mel_bins", default=None)
    longest = setting(config, "max_length", default=None)
    if bins is not None and longest is not None:
        yield _tensor("spectrum", "input_values", (longest, bins))
    channels = setting(config, "audio_channels", default=1)

    def raw(batch: int, length: int) -> dict[str, torch.Tensor]:
        return {"input_values": torch.randn(batch, length)}

    def with_channel(batch: int, length: int) -> dict[str, torch.Tensor]:
        return {"input_values": torch.randn(batch, channels, length)}

    def with_decoder(batch: int, length: int) -> dict[str, torch.Tensor]:
        decoder = torch.randn(batch, 6, bins or 80)
        return raw(batch, length) | {"decoder_input_values": decoder}

    lengths = (3200, 4800)
    if "decoder_input_values" in accepted:
        both = {"input_values": {0: "batch", 1: "length"}, "decoder_input_values": {0: "batch"}}
        yield Recipe("sound and spectrum", with_decoder, both, lengths)
    yield Recipe("sound", raw, {"input_values": {0: "batch", 1: "length"}}, lengths)
    yield Recipe("channels", with_channel, {"input_values": {0: "batch", 2: "length"}}, lengths)


def _series(accepted: set[str], config: Any) -> Iterator[Recipe]:
    length = setting(config, "context_length", default=32)
    lags = setting(config, "lags_sequence", default=[0])
    channels = setting(config, "num_input_channels", default=1)
    past = length + max(lags)

    def make(batch: int, _: int) -> dict[str, torch.Tensor]:
        plain = {"past_values": torch.randn(batch, past)}
        if "past_time_features" in accepted:
            features = setting(config, "num_time_features", default=0)
            features += setting(config, "num_dynamic_real_features", default=0)
            plain["past_time_features"] = torch.randn(batch, past, max(1, features))
            plain["past_observed_mask"] = torch.ones(batch, past)
            ahead = setting(config, "prediction_length", default=8) or 8
            plain["future_values"] = torch.randn(batch, ahead)
            plain["future_time_features"] = torch.randn(batch, ahead, max(1, features))
        return plain

    def many(batch: int, _: int) -> dict[str, torch.Tensor]:
        return {"past_values": torch.randn(batch, length, channels)}

    names = list(make(1, 1))
    yield Recipe("series", make, {name: {0: "batch"} for name in names})
    yield Recipe("series of channels", many, {"past_values": {0: "batch"}})
