"""Models after quantization-aware training, whose operators PyTorch has no fake kernels for."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import sardonyx

PER_TENSOR: Any = torch.fake_quantize_per_tensor_affine
PER_CHANNEL: Any = torch.fake_quantize_per_channel_affine


class Fixed(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return PER_TENSOR(x, 0.05, 2, 0, 255)


class Buffers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Buffer(torch.tensor(0.1))
        self.scales = torch.nn.Buffer(torch.tensor([0.05, 0.1, 0.02]))
        self.zero = torch.nn.Buffer(torch.tensor(3, dtype=torch.int32))
        self.zeros = torch.nn.Buffer(torch.zeros(3, dtype=torch.int32))

    def forward(self, x: torch.Tensor) -> Any:
        of_all = PER_TENSOR(x, self.scale, self.zero, -128, 127)
        return of_all, PER_CHANNEL(x, self.scales, self.zeros, 1, -127, 127)


@pytest.mark.parametrize("capture", ["quick", "torch"])
@pytest.mark.parametrize("module", [Fixed, Buffers])
def test_sizes_may_be_dynamic(module: type[torch.nn.Module], capture: Any) -> None:
    model = module()
    program = sardonyx.export(
        model, (torch.randn(4, 3),), dynamic_shapes=({0: "batch"},), capture=capture
    )
    for size in (1, 4, 7):
        x = torch.randn(size, 3) * 8
        torch.testing.assert_close(program(x), tuple(torch.utils._pytree.tree_leaves(model(x))))
