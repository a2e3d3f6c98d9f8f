"""Draft export may decide by the example's data alone, which its own assertions tell."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from sardonyx._capture.guards.specializations import Specializations, SpecializedBranchError
from sardonyx._capture.source_location import Place
from sardonyx._capture.strategies import draft as strategy


class Counts(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        kept = x[x > 0]
        torch._check(kept.shape[0] == 2)
        return kept * 2


def drafted(monkeypatch: pytest.MonkeyPatch, example: Tensor) -> None:
    """As if PyTorch had decided that two elements are positive."""
    program = torch.export.export(Counts(), (torch.tensor([1.0, -1.0, 1.0]),))
    place = Place("model.py", 7, "forward")
    monkeypatch.setattr(strategy.torch_export, "draft_export", lambda *_: program)
    monkeypatch.setattr(strategy, "_decided_by_data", lambda _: [place])
    found = Specializations()
    strategy.draft(Counts(), (example,), {}, None, specializations=found, may_freeze=True)
    assert found.python == [place]


def test_what_the_example_says_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    drafted(monkeypatch, torch.tensor([3.0, 2.0, -1.0]))


def test_what_the_example_denies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecializedBranchError) as refused:
        drafted(monkeypatch, torch.tensor([3.0, 2.0, 1.0]))
    assert "in another way than the example's" in str(refused.value)
    assert "u0 <= 2" in str(refused.value)
