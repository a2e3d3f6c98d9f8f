"""FlexAttention: bodies for scores and masks, captured tensors, grouped heads, dynamic sizes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

from tests.harness import assert_exports

flex = pytest.importorskip("torch.nn.attention.flex_attention")


def heads(count: int, length: int = 16) -> Tensor:
    return torch.randn(2, count, length, 8)


class Biased(nn.Module):
    """A score that reads a parameter by place, under a block mask, for grouped heads."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(16))
        self.mask = flex.create_block_mask(
            lambda b, h, q, k: q >= k, None, None, 16, 16, device="cpu", BLOCK_SIZE=16
        )

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Any:
        def score(given: Tensor, _: Tensor, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
            return given + self.bias[row] - self.bias[column] * head

        return flex.flex_attention(q, k, v, score, self.mask, enable_gqa=True)


class Windowed(nn.Module):
    """Some rows see nothing; the logarithms of the sums are asked for."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Any:
        def score(given: Tensor, _: Tensor, __: Tensor, row: Tensor, column: Tensor) -> Tensor:
            return torch.where(row - column > 3, given * 2, -float("inf"))

        return flex.flex_attention(q, k, v, score, scale=0.3, return_lse=True)


class Plain(nn.Module):
    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Any:
        return flex.flex_attention(q, k, v)


def test_scores_masks_and_groups() -> None:
    assert_exports(Biased(), (heads(4), heads(2), heads(2)))


def test_rows_that_see_nothing() -> None:
    assert_exports(Windowed(), (heads(2, 6), heads(2, 6), heads(2, 6)))


def test_lengths_that_vary() -> None:
    length = {2: Dim("length")}
    assert_exports(
        Plain(),
        (heads(2, 6), heads(2, 6), heads(2, 6)),
        dynamic_shapes={"q": length, "k": length, "v": length},
        other_inputs=[(heads(2, 9), heads(2, 9), heads(2, 9))],
    )
