"""Tokens that are frames of several codes, [batch, length, codes]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from sardonyx._base.errors import ProgramError
from sardonyx.hf.base.example import BATCH, CODES, codes_of

from .input_search import accepted_example


@dataclass(frozen=True)
class TokenFrames:
    """The tokens of a model: plain, or several codes in each frame.

    Attributes:
        codes: how many there are in each frame; 0 for plain tokens.
        beside: whether the model has them as rows beside each other, [batch * codes, length].
    """

    codes: int = 0
    beside: bool = False

    def taken(self, ids: torch.Tensor) -> torch.Tensor:
        """Frames as the model takes them."""
        return ids.transpose(1, 2).flatten(0, 1) if self.beside else ids


def frames_of(model: torch.nn.Module, config: Any) -> TokenFrames:
    """What the tokens are that the model takes."""
    try:
        example, _, _ = accepted_example(model, config)
    except ProgramError:
        return TokenFrames()
    if "input_ids" not in example.dims:
        return TokenFrames()
    ids = example.make(2, example.lengths[0])["input_ids"]
    if example.dims["input_ids"].get(0, BATCH) == CODES:
        return TokenFrames(ids.shape[0] // 2, beside=True)
    return TokenFrames(codes_of(ids))
