"""What a capture says on the terminal: what the user can do something about."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn

import sardonyx


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while x.sum() > 0:
            x = x - 1
        return x


def test_a_capture_that_fails_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(sardonyx.OnnxExporterError):
        sardonyx.export(Branches(), (torch.ones(2),))
    assert capfd.readouterr() == ("", "")


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.LSTM(3, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)[0]


@pytest.mark.parametrize("capture", ["torch", "auto"])
def test_a_recurrent_model_warns_of_nothing(capture: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sardonyx.export(
            Recurrent(), (torch.ones(5, 2, 3),), dynamic_shapes=({0: "time"},), capture=capture
        )


class Changes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.last = x
        return x + 1


def test_a_tensor_that_forward_keeps_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="self.last"):
        sardonyx.export(Changes(), (torch.ones(2),), capture="torch")
