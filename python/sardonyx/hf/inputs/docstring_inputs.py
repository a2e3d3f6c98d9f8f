"""Inputs that are made from what transformers documents of them: "`torch.LongTensor` of shape
`(batch_size, sequence_length)`" beside the name, in the documentation of forward().

Most models take what examples.py knows. Others ask for more (the tokens of a second encoder), or
for something else (states and actions, latents).
"""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from sardonyx.hf.base.example import BATCH, LENGTH, Dims, Example, Tensors, random_values, token_ids
from sardonyx.hf.base.settings import setting

from .image_inputs import sides

_SHAPE = (
    r"\(\s*`(?P<type>[\w.]+)`\s*of\s+shape\s+`?"
    r"[(\[](?P<shape>[^()\[\]]*(?:\([^()]*\))?[^()\[\]]*)[)\]]"
)
# Of what forward() has a default for.
_NOT_NEEDED = re.compile(
    r"labels|_outputs$|past_key_values|cache|embeds|output_|_mask$|_pos$|_ids$"
)
# What the documentation leaves out, or says otherwise than the code has it.
_HINTS = {
    # Spectra are [batch, frames, bins], and the mask is of what is padding.
    "audio_mel": ("FloatTensor (batch_size, num_frames, input_feat_size)",),
    "audio_mel_mask": ("Padding (batch_size, num_frames)",),
    # Each image is asked for one class, though it could be for several.
    "classes_input_ids": ("LongTensor (batch_size, sequence_length)",),
    "classes_attention_mask": ("LongTensor (batch_size, sequence_length)",),
    "tasks_attention_mask": ("LongTensor (batch_size, sequence_length)",),
    # As wide as the encoder is whose output it is.
    "encoder_hidden_states": ("FloatTensor (batch_size, encoder_length, encoder_hidden_size)",),
    # Before its values, each patch has its row and its column.
    "flattened_patches": ("Positive (batch_size, num_patches, 2 + patch_embed_hidden_size)",),
    # What a codec decodes has its width before its length, and what it encodes has samples, or is
    # a map of patches.
    "hidden_states": (
        "FloatTensor (batch_size, hidden_size, frames)",
        "FloatTensor (batch_size, channels, num_samples)",
        "FloatTensor (batch_size, latent_channels, patches_high, patches_wide)",
    ),
    "pixel_values_videos": ("FloatTensor (batch_size, num_frames, num_channels, height, width)",),
    "state": ("FloatTensor (batch_size, max_state_dim)",),
    # As many as the encoder of the task was made for.
    "task_inputs": ("FloatTensor (batch_size, task_seq_len)",),
}
# What settings are called in shapes and in configurations.
_SYNONYMS = {"dim": ("hidden_size", "d_model"), "num_channels": ("num_channels", "in_channels")}
_FRAMES, _SOME = 4, 8
_SAMPLES = 3200


@dataclass(frozen=True)
class _Input:
    name: str
    kind: str
    shape: tuple[str, ...]


# What models say that want an input which forward() has a default for.
_ASKED = re.compile(
    r"`(?P<input>\w+)` cannot be `None`|missing 1 required positional argument: '(?P<argument>\w+)'"
)


# What Python says where the code reads an input that it was not given.
_WITHOUT = re.compile(r"'NoneType' object (?:has no attribute|is not subscriptable)")


def asked_for(example: Example, error: Exception, model: Any, config: Any) -> Example | None:
    """The example with the documented input that the error asks for."""
    found = _ASKED.search(str(error))
    if found is None and _WITHOUT.match(str(error)):
        return next(_with_others(example, model, config), None)
    name = "" if found is None else found["input"] or found["argument"]
    if not name or name in example.dims or name not in inspect.signature(model.forward).parameters:
        return None
    return next(_examples(_documented(model, name), config, example), None)


def _with_others(example: Example, model: Any, config: Any) -> Iterator[Example]:
    """The example with the documented inputs that it has not: a video, to what has its sound."""
    names = (
        name
        for name in inspect.signature(model.forward).parameters
        if name not in example.dims and "mask" not in name and not _NOT_NEEDED.search(name)
    )
    others = [each for name in names for each in _documented(model, name)[:1]]
    if others:
        yield from _examples(others, config, example)


def documented_size(model: Any, config: Any, name: str, axis: int) -> int | None:
    """How long an axis of an input is, where its documentation and the configuration tell."""
    shape = next((each.shape for each in _documented(model, name)), ())
    return _SizesOf(config, 1, 1).of(shape[axis], 1, 1) if axis < len(shape) else None


def completed(example: Example | None, model: Any, config: Any) -> Iterator[Example]:
    """The example with the inputs that forward() has no default for, or that the model calls its
    main ones; None stands for no example, to which all documented ones are added, then."""
    given = set() if example is None else {*example.dims, *example.known(1)}
    signature = inspect.signature(model.forward).parameters
    main = getattr(model, "main_input_name", ())
    main = [main] if isinstance(main, str) else list(main or ())
    needed = [
        name
        for name, parameter in signature.items()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        and name not in given
        and (parameter.default is parameter.empty or (example is None and name in main))
    ]
    if example is not None and not needed:
        yield example
        return
    ways = [_documented(model, name) for name in needed]
    for first in itertools.product(*ways) if needed else ():
        yield from _examples(list(first), config, example)
        if example is None:
            more = [name for name in signature if not _NOT_NEEDED.search(name)]
            beside = [_documented(model, name)[:1] for name in more if name not in needed]
            known = [each[0] for each in beside if each and _SizesOf(config, 1, 1).knows(each[0])]
            if known:
                yield from _examples([*first, *known], config, None)
            # A mask may be longer than what it is of: of a context, too.
            for mask in _documented(model, "attention_mask"):
                yield from _examples([*first, mask], config, None)


def _documented(model: Any, name: str) -> list[_Input]:
    """The ways in which an input may be made."""
    if name in _HINTS:
        hints = (hint.split(" ", 1) for hint in _HINTS[name])
        return [_Input(name, kind, _sizes(shape.strip("()"))) for kind, shape in hints]
    match = re.search(rf"(?m)^\s*{name}\s*{_SHAPE}", model.forward.__doc__ or "")
    if match is None:
        return []
    return [_Input(name, match["type"].rpartition(".")[2], _sizes(match["shape"]))]


def _sizes(text: str) -> tuple[str, ...]:
    return tuple(size.strip() for size in text.replace(" x ", " * ").split(",") if size.strip())


def _examples(inputs: list[_Input], config: Any, example: Example | None) -> Iterator[Example]:
    pictured = any({"height", "frame_size", "image_size"} & set(each.shape) for each in inputs)
    for height, width in itertools.islice(sides(config), 4 if pictured else 1):
        sizes = _SizesOf(config, height, width)
        if any(not sizes.knows(each) for each in inputs):
            return
        made = Example(*_maker(inputs, sizes, config))
        yield made if example is None else example.joined(made)


def _maker(inputs: list[_Input], sizes: _SizesOf, config: Any) -> tuple[Any, Dims]:
    def make(batch: int, length: int) -> Tensors:
        return {
            each.name: _values(each, [sizes.of(s, batch, length) for s in each.shape], config)
            for each in inputs
        }

    dims = {
        each.name: {
            axis: name for axis, size in enumerate(each.shape) if (name := sizes.varying(size))
        }
        for each in inputs
    }
    return make, dims


class _SizesOf:
    """What the names in documented shapes stand for."""

    def __init__(self, config: Any, height: int, width: int) -> None:
        self._config = config
        self._sides = {"height": height, "width": width, "frame_size": height, "image_size": height}

    def knows(self, each: _Input) -> bool:
        """Whether each axis has a size."""
        return all(self.of(size, 1, 1) is not None for size in each.shape)

    def varying(self, size: str) -> str | None:
        """What an axis is called that may vary."""
        if not size.isidentifier():
            return None
        if size in ("batch_size", "batch"):
            return BATCH
        if size in self._sides or size == "num_frames" or self._of_config(size) is not None:
            return None
        return LENGTH if size in ("sequence_length", "seq_length", "seq_len") else size

    def of(self, size: str, batch: int, length: int) -> int | None:
        """How many elements an axis has; None where that is not to be known."""
        if size.isidentifier():
            return self._named(size, batch, length)
        try:
            return self._evaluated(ast.parse(size, mode="eval").body, batch, length)
        except (SyntaxError, TypeError, ValueError):
            return None

    def _named(self, size: str, batch: int, length: int) -> int | None:
        if size in ("batch_size", "batch"):
            return batch
        if size in self._sides:
            return self._sides[size]
        if size == "num_frames":
            frames = setting(self._config, size, "frames_per_clip", default=_FRAMES)
            return frames if isinstance(frames, int) else _FRAMES
        if (found := self._of_config(size)) is not None:
            return found
        if size in ("sequence_length", "seq_length", "seq_len"):
            return length
        if "samples" in size or "audio" in size:
            return _SAMPLES
        if re.search("length|frames|tokens|patches|queries|visual_features", size):
            return _SOME
        return 1 if size == "channels" else None

    def _of_config(self, size: str) -> int | None:
        found = setting(self._config, *_SYNONYMS.get(size, (size,)))
        if found is None and size == "num_channels":
            return 3
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    def _evaluated(self, node: ast.AST, batch: int, length: int) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name):
                found = self._named(name, batch, length)
            case ast.Attribute(value=ast.Name(id="config"), attr=name):
                found = self._of_config(name)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(attr=name)]):
                found = len(setting(self._config, name))
            case ast.BinOp(left=left, op=op, right=right):
                pair = [self._evaluated(each, batch, length) for each in (left, right)]
                found = _computed(op, *pair)
            case _:
                found = None
        if found is None:
            raise ValueError(ast.dump(node))
        return found


def _computed(op: ast.operator, left: int, right: int) -> int | None:
    match op:
        case ast.Add():
            return left + right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return left // right
        case ast.Pow():
            return int(left**right)
    return None


def _values(each: _Input, shape: list[Any], config: Any) -> torch.Tensor:
    if "mask" in each.name and each.name != "prompt_masks":
        if each.kind in ("BoolTensor", "Padding"):
            return torch.full(shape, each.kind == "BoolTensor")
        return torch.ones(shape, dtype=torch.int64)
    if each.kind not in ("LongTensor", "IntTensor") and not each.name.endswith("_ids"):
        values = random_values(tuple(shape))
        return values.abs() if each.kind == "Positive" else values
    if each.name.endswith("input_ids"):
        return token_ids(config, shape[0], math.prod(shape[1:])).reshape(shape)
    if len(shape) == 1:
        return torch.ones(shape, dtype=torch.int64)
    places = torch.arange(shape[1])
    if len(shape) == 3 and shape[2] == 2:
        # Columns and rows of patches.
        side = math.isqrt(shape[1])
        places = torch.stack([places % side, places // side], -1)
    return places.expand(shape).contiguous()
