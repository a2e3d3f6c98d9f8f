"""torch.distributions check their arguments' values, which no captured program can."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.distributions import Categorical, Distribution, Normal, kl_divergence

import sardonyx


class Scores(nn.Module):
    def forward(self, x: torch.Tensor, mean: torch.Tensor) -> tuple[torch.Tensor, ...]:
        one, other = Normal(mean, 0.5), Normal(x, mean.exp())
        return one.log_prob(x), Categorical(logits=x).entropy(), kl_divergence(one, other)


@pytest.mark.parametrize("capture", ["torch", "auto"])
def test_distributions_are_captured(capture: Any) -> None:
    example = (torch.randn(3, 4), torch.randn(3, 4))
    shapes = ({0: "batch"}, {0: "batch"})
    before = Distribution._validate_args
    program = sardonyx.export(Scores(), example, dynamic_shapes=shapes, capture=capture)
    inputs = (torch.randn(5, 4), torch.randn(5, 4))
    for answer, wanted in zip(program(*inputs), Scores()(*inputs), strict=True):
        torch.testing.assert_close(answer, wanted)
    assert Distribution._validate_args == before
