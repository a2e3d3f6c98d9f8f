"""Examples of which an error of PyTorch says how wide they should have been.

Configurations do not say all: spectra may be stacked, and patches be of several frames. The first
product then says what it is given, and what it wants.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .example import Example, Tensors, random_values

# What a product or a convolution says, and the axis of which it does.
_MESSAGES = (
    (re.compile(r"shapes cannot be multiplied \(\d+x(?P<given>\d+) and (?P<wanted>\d+)x\d+\)"), -1),
    (re.compile(r"to have (?P<wanted>\d+) channels, but got (?P<given>\d+) channels"), 1),
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
    return None


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
