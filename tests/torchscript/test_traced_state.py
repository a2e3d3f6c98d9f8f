"""Tracing runs a model with data; the model is as before afterwards."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

import sardonyx


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.norm(x) * self.calls


@pytest.mark.filterwarnings("ignore")
def test_statistics_and_counters_are_as_before() -> None:
    model = Counts().train()
    before = copy.deepcopy(model)
    x = torch.randn(5, 4)
    program = sardonyx.export(model, (x,), capture="trace")
    assert model.calls == 0
    torch.testing.assert_close(model.state_dict(), before.state_dict(), rtol=0, atol=0)
    torch.testing.assert_close(program(x)[0], before(x))


class _Shorter(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[: x.shape[0] - 1] + 1


def test_tensors_are_no_sequences_afterwards() -> None:
    """torch.tensor() asks sequences for their length, which a tensor of no dims has not."""
    sardonyx.export(_Shorter(), (torch.ones(2, 3),), capture="trace", verify=False)
    assert torch.tensor([torch.tensor(3), torch.tensor(4)]).tolist() == [3, 4]
