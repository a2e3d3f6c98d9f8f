"""arange() of ends that data give, real and whole."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import sardonyx


class Ranges(nn.Module):
    def forward(self, end: Tensor) -> tuple[Tensor, ...]:
        last: Any = end  # a tensor stands for a number, which the stubs of PyTorch do not have
        return (
            torch.arange(last),
            torch.arange(0, last),
            torch.arange(0.5, last),
            torch.arange(2, last),
        )


@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.parametrize(("example", "other"), [(6.2, 4.5), (6.0, 3.0), (6, 4)])
def test_ranges_of_one_end(example: float, other: float, dynamo: bool) -> None:
    program = sardonyx.export(Ranges(), (torch.tensor(example),), dynamo=dynamo)
    for end in (example, other):
        x = torch.tensor(end)
        for ours, eager in zip(program(x), Ranges()(x), strict=True):
            torch.testing.assert_close(ours, eager)
