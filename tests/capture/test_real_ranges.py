"""arange() of ends that data give, real and whole."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import sardonyx


class Ranges(nn.Module):
    def forward(self, end: Tensor) -> tuple[Tensor, ...]:
        return torch.arange(end), torch.arange(0, end), torch.arange(0.5, end), torch.arange(2, end)  # type: ignore[call-overload]


@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.parametrize(("example", "other"), [(6.2, 4.5), (6.0, 3.0), (6, 4)])
def test_ranges_of_one_end(example: float, other: float, dynamo: bool) -> None:
    program = sardonyx.export(Ranges(), (torch.tensor(example),), dynamo=dynamo)
    for end in (example, other):
        x = torch.tensor(end)
        for ours, eager in zip(program(x), Ranges()(x), strict=True):
            torch.testing.assert_close(ours, eager)
