"""Examples of which an error of PyTorch says how wide they should have been.

Configurations do not say all: spectra may be stacked, and patches be of several frames. The first
product then says what it is given, and what it wants.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sardonyx.hf.base.example import (
    CODES,
    LENGTH,
    Example,
    Tensors,
    codes_of,
    frames,
    random_values,
)

# What a product or a convolution says, and the axis of which it does.
_MESSAGES = (
    (re.compile(r"shapes cannot be multiplied \(\d+x(?P<given>\d+) and (?P<wanted>\d+)x\d+\)"), -1),
    (re.compile(r"to have (?P<wanted>\d+) channels, but got (?P<given>\d+) channels"), 1),
)

# What models of timm say, whose sizes of images no configuration of transformers has.
_SIDE = re.compile(r"Input height \((?P<given>\d+)\) doesn't match model \((?P<wanted>\d+)\)")

# What PyTorch says where two lengths that belong together are joined, or added.
_MATCHED = (
    re.compile(r"Expected size (?P<wanted>\d+) but got size (?P<given>\d+) for tensor"),
    re.compile(
        r"tensor a \((?P<wanted>\d+)\) must match the size of tensor b \((?P<given>\d+)\) at "
        r"non-singleton dimension 1"
    ),
)

# What models say whose tokens are frames of several codes, where they are given one at a time: to
# how many they add what tells these apart, or into how many they part a text.
_CODES = (
    re.compile(
        r"tensor a \((?P<length>\d+)\) must match the size of tensor b \((?P<codes>\d+)\) at "
        r"non-singleton dimension 1"
    ),
    re.compile(r"shape '\[\d+, (?P<codes>\d+), -1\]' is invalid for input of size (?P<size>\d+)"),
)
# What those say that have the codes of a frame as rows beside each other.
_ROWS_OF_CODES = re.compile(
    r"shape '\[-1, (?P<codes>\d+), (?P<length>\d+)\]' is invalid for input of size"
)

# What models say that cut sounds into pieces of one length themselves.
_WHOLE = re.compile(r"length \d+ is not a multiple of (?P<wanted>\d+)")


def corrected(example: Example, error: Exception) -> Example | None:
    """The example with the size that the error asks for, where one of its inputs alone has the one
    that is wrong."""
    for message, axis in _MESSAGES:
        if (found := message.search(str(error))) is not None:
            return _resized(example, axis, int(found["given"]), int(found["wanted"]))
    if (found := _WHOLE.search(str(error))) is not None:
        piece = int(found["wanted"])
        shorter, longer = (-(-length // piece) * piece for length in example.lengths)
        return replace(example, lengths=(shorter, max(longer, shorter + piece)))
    if (found := _SIDE.search(str(error))) is not None:
        return _of_side(example, int(found["given"]), int(found["wanted"]))
    for message in _MATCHED:
        if (found := message.search(str(error))) is not None:
            sizes = int(found["wanted"]), int(found["given"])
            if (matched := _in_step(example, *sizes)) is not None:
                return matched
    for message in _CODES:
        if (found := message.search(str(error))) is not None:
            return _of_frames(example, **{k: int(v) for k, v in found.groupdict().items()})
    if (found := _ROWS_OF_CODES.search(str(error))) is not None:
        framed = _of_frames(example, int(found["codes"]), length=int(found["length"]))
        return None if framed is None else _beside_each_other(framed)
    return None


def _of_frames(example: Example, codes: int, length: int = 0, size: int = 0) -> Example | None:
    """With frames of so many codes [batch, length, codes] in the place of tokens: of a decoder's,
    where there are those."""
    made = example.make(2, example.lengths[0])
    names = [
        name
        for name, value in made.items()
        if name.endswith("input_ids") and value.dim() == 2 and (length, size) in
        ((value.shape[1], 0), (0, value.numel()))
    ]  # fmt: skip
    if not names:
        return None
    name = max(names, key=lambda each: each.startswith("decoder_"))

    def make(batch: int, length: int) -> Tensors:
        values = example.make(batch, length)
        return values | {name: frames(values[name], codes)}

    return replace(example, make=make)


def _in_step(example: Example, wanted: int, given: int) -> Example | None:
    """With as many samples, or frames, as belong to `wanted` elements, the length of another input,
    where `given` came of those that there were."""
    made = example.make(2, example.lengths[0])
    places = [
        (name, axis)
        for name, axes in example.dims.items()
        for axis in axes
        if axis > 0 and made[name].is_floating_point()
    ]
    # Of a sound and its spectrum, the sound is the longer one.
    name, axis = max(places, key=lambda at: made[at[0]].shape[at[1]], default=("", 0))
    if not name or wanted != example.lengths[0] or made[name].shape[axis] % given:
        return None
    each = made[name].shape[axis] // given

    def make(batch: int, length: int) -> Tensors:
        values = example.make(batch, length)
        shape = list(values[name].shape)
        shape[axis] = each * length
        values[name] = random_values(tuple(shape))
        return values

    return replace(example, make=make)


def _beside_each_other(example: Example) -> Example:
    """With frames of codes as rows [batch * codes, length]."""
    name = next(name for name, value in example.make(2, 5).items() if codes_of(value))

    def make(batch: int, length: int) -> Tensors:
        values = example.make(batch, length)
        return values | {name: values[name].transpose(1, 2).flatten(0, 1)}

    return replace(example, make=make, dims=example.dims | {name: {0: CODES, 1: LENGTH}})


def _of_side(example: Example, given: int, wanted: int) -> Example | None:
    """With images of so many rows and columns."""
    made = example.make(2, example.lengths[0])
    names = [name for name, value in made.items() if value.shape[-2:] == (given, given)]
    if len(names) != 1:
        return None

    def make(batch: int, length: int) -> Tensors:
        values = example.make(batch, length)
        shape = (*values[names[0]].shape[:-2], wanted, wanted)
        return values | {names[0]: random_values(shape)}

    return replace(example, make=make)


def _resized(example: Example, axis: int, given: int, wanted: int) -> Example | None:
    made = example.make(2, example.lengths[0])
    names = [
        name
        for name, value in made.items()
        if value.is_floating_point() and value.dim() > 1 and value.shape[axis] == given
    ]
    if len(names) != 1 or axis % made[names[0]].dim() in example.dims.get(names[0], {}):
        return None

    def make(batch: int, length: int) -> Tensors:
        values = example.make(batch, length)
        shape = list(values[names[0]].shape)
        shape[axis] = wanted
        values[names[0]] = random_values(tuple(shape))
        return values

    return Example(make, example.dims, example.lengths, example.known)
