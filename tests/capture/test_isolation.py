"""A capture that fails leaves the user's tensors, module and PyTorch as they were."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import sardonyx


class Assigns(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.held, self.count, self.table = torch.zeros(2), 0, {}
        self.register_buffer("running", torch.zeros(3))

    def forward(self, x):
        self.held, self.new, self.count = x * 2, x, self.count + 1
        self.running = self.running + 1
        self.table["x"] = x
        torch.set_default_dtype(torch.float64)
        raise ValueError("no such model")


class Writes(Assigns):
    def forward(self, x):
        self.held.add_(1)
        self.running.add_(1)
        raise ValueError("no such model")


@pytest.mark.parametrize("capture", ["quick", "torch", "auto", "trace"])
@pytest.mark.parametrize("kind", [Assigns, Writes])
def test_nothing_is_left_behind(kind, capture):
    model, x = kind(), torch.randn(2, 3)
    held, running = model.held, model.running
    x.mine = {1}
    with pytest.raises(sardonyx.OnnxExporterError):
        sardonyx.export(model, (x,), dynamic_shapes=({0: Dim.AUTO},), capture=capture)
    assert vars(x) == {"mine": {1}}
    assert model.held is held
    assert model.running is running
    assert not held.any()
    assert not running.any()
    assert not hasattr(model, "new")
    assert model.count == 0
    assert model.table == {}
    assert torch.get_default_dtype() is torch.float32
    assert torch.is_grad_enabled()


class Registers(torch.nn.Module):
    """Has its bias of the length of the last call, as ALiBi is written."""

    def __init__(self):
        super().__init__()
        self.register_buffer("bias", None, persistent=False)

    def forward(self, x):
        if self.bias is None or len(self.bias) < x.shape[1]:
            self.register_buffer("bias", torch.arange(x.shape[1]) * 1.0, persistent=False)
        return x + self.bias[: x.shape[1]]


@pytest.mark.parametrize("capture", ["torch", "auto"])
def test_a_registered_buffer_has_data(capture):
    model, x = Registers(), torch.randn(2, 3)
    made = sardonyx.export(model, (x,), capture=capture)
    torch.testing.assert_close(made(x)[0], model(x))
    assert type(model.bias) is torch.Tensor
