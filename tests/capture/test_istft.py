"""`torch.istft` with as many samples as a dynamic size says."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import sardonyx
from sardonyx.errors import SpecializationWarning

# Batches and samples: whole and broken hops, shorter and longer than the example's.
SIZES = ((2, 400), (1, 401), (3, 463), (1, 70), (2, 511))


class Filtered(torch.nn.Module):
    def __init__(self, width: int, hop: int) -> None:
        super().__init__()
        self.window = torch.nn.Buffer(torch.hann_window(width))
        self.width, self.hop = width, hop

    def forward(self, x: torch.Tensor) -> Any:
        spectrum = torch.stft(x, self.width, self.hop, window=self.window, return_complex=True)
        whole = torch.istft(spectrum, self.width, self.hop, window=self.window, length=x.shape[-1])
        shorter = x.shape[-1] - 3
        return whole, spectrum.istft(self.width, self.hop, window=self.window, length=shorter)


@pytest.mark.parametrize("capture", ["quick", "torch", "trace"])
@pytest.mark.parametrize(("width", "hop"), [(64, 16), (50, 25), (48, 20)])
def test_the_length_stays_dynamic(width: int, hop: int, capture: Any) -> None:
    torch.manual_seed(0)
    model = Filtered(width, hop)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpecializationWarning)
        program = sardonyx.export(
            model,
            (torch.randn(*SIZES[0]),),
            dynamic_shapes=({0: "batch", 1: "samples"},),
            capture=capture,
        )
    for sizes in SIZES:
        x = torch.randn(*sizes)
        torch.testing.assert_close(program(x), model(x), rtol=1e-3, atol=1e-4)
