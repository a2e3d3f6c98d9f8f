"""Random tensors whose generator is None, as diffusers asks for them, with free sizes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import sardonyx


class Noisy(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normal = torch.randn((x.shape[0], 4), generator=None, dtype=x.dtype, device=x.device)
        uniform = torch.rand(*x.shape, generator=None)
        whole = torch.randint(2, 5, x.shape, generator=None)
        order = torch.randperm(x.shape[0], generator=None)
        return torch.stack([normal, uniform, whole, order[:, None].expand(-1, 4)])


@pytest.mark.parametrize("capture", ["quick", "torch", "trace"])
def test_sizes_stay_free(capture: str) -> None:
    own = torch.randn
    program = sardonyx.export(
        Noisy(), (torch.randn(3, 4),), dynamic_shapes=({0: "rows"},), capture=capture
    )
    assert torch.randn is own
    for rows in (3, 50):
        normal, uniform, whole, order = program(torch.randn(rows, 4))[0]
        assert normal.shape == (rows, 4)
        assert normal.min() < 0
        assert uniform.min() >= 0
        assert uniform.max() < 1
        assert set(whole.flatten().tolist()) <= {2.0, 3.0, 4.0}
        assert sorted(order[:, 0].tolist()) == list(range(rows))
