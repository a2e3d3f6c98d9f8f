"""What an example of a model's inputs is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from .settings import all_settings, setting

Tensors = dict[str, torch.Tensor]
# Input name to axis to what the axis is called.
Dims = dict[str, dict[int, str]]

BATCH = "batch_size"
LENGTH = "sequence_length"
TOTAL_LENGTH = "total_sequence_length"
# Rows of the codes of each frame beside each other.
CODES = "batch_size_times_codes"


def _nothing(_: int) -> Tensors:
    return {}


@dataclass(frozen=True)
class Example:
    """Example inputs for a batch size and a length.

    Attributes:
        make: makes the inputs by name.
        dims: the axes that may vary, and their names.
        lengths: two lengths that are not too short for the model.
        known: makes, for a batch, what is the same in all runs of the exported model (the sizes of
            images), and so is no input of it.
        one_row: whether there is one row, whatever the batch.
    """

    make: Callable[[int, int], Tensors]
    dims: Dims
    lengths: tuple[int, int] = (12, 17)
    known: Callable[[int], Tensors] = field(default=_nothing)
    one_row: bool = False

    def of_one_row(self) -> Example:
        """The same of one row, whatever the batch."""
        dims = {
            name: {axis: size for axis, size in axes.items() if size != BATCH}
            for name, axes in self.dims.items()
        }
        return Example(
            lambda _, length: self.make(1, length),
            dims,
            self.lengths,
            lambda _: self.known(1),
            one_row=True,
        )

    def joined(self, other: Example) -> Example:
        """Both in one; the first one's lengths hold."""
        return Example(
            lambda batch, length: self.make(batch, length) | other.make(batch, length),
            self.dims | other.dims,
            self.lengths,
            lambda batch: self.known(batch) | other.known(batch),
        )

    def all(self, batch: int, length: int) -> Tensors:
        """The inputs, and what is no input."""
        return self.make(batch, length) | self.known(batch)


def noise(name: str, shape: tuple[int, ...], dims: dict[int, str]) -> Example:
    """An input [batch, *shape] of random numbers."""
    return Example(lambda batch, _: {name: random_values((batch, *shape))}, {name: dims})


def random_values(shape: tuple[int, ...]) -> torch.Tensor:
    """The same ones in every call."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(2))


def token_ids(
    config: Any, batch: int, length: int, seed: int = 0, *, codes: int = 0
) -> torch.Tensor:
    """Tokens [batch, length] that are not special, or frames [batch, length, codes] of so many."""
    names = ("vocab_size", "src_vocab_size", "text_vocab_size")
    size = setting(config, *names, default=next(all_settings(config, *names), 100))
    size = size if isinstance(size, int) else 100
    low = min(size // 2, 64)
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(low, max(low + 1, size), (batch, length), generator=generator)
    return frames(ids, codes) if codes else ids


def frames(ids: torch.Tensor, codes: int) -> torch.Tensor:
    """Frames [batch, length, codes] of tokens, with a different token for each code, so that their
    order matters. Codes after the first may be audio codes, which may have a smaller vocabulary."""
    others = [ids.roll(place, 1) % _FEWEST_CODES for place in range(1, codes)]
    return torch.stack([ids, *others], -1)


# No codec has fewer codes.
_FEWEST_CODES = 16


def codes_of(ids: torch.Tensor) -> int:
    """How many codes each frame has; 0 for tokens."""
    return ids.shape[2] if ids.dim() > 2 else 0
