"""Every target opset, each emitted directly."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram

import sardonyx
from tests.harness import assert_exports, capture

OPSETS = range(13, 29)


class SmallCnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.group = nn.GroupNorm(2, 8)
        self.last = nn.Linear(8, 5)

    def forward(self, x):
        y = torch.relu(self.norm(self.first(x)))
        y = nn.functional.max_pool2d(nn.functional.pad(y, (1, 1, 0, 1)), 2)
        y = nn.functional.interpolate(self.group(y), scale_factor=2.0, mode="bilinear")
        y = nn.functional.hardswish(y) + y.amax(dim=(2, 3), keepdim=True)
        a, b = y.split(4, dim=1)
        y = torch.cat([a.clamp(-1, 1), b.mean(dim=1, keepdim=True).expand_as(b)], dim=1)
        return self.last(y.sum(dim=(2, 3))).softmax(-1)


class SmallTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.norm = nn.LayerNorm(16)
        self.rms = nn.RMSNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, ids, mask):
        x = self.embedding(ids)
        q, k, v = (
            t.unflatten(-1, (2, 8)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, -1)
        )
        allowed = (
            mask[:, None, None, :] & torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        x = x + y.transpose(1, 2).flatten(2)
        x = x + self.down(nn.functional.gelu(self.up(self.rms(x))))
        return x, x.cumsum(1).topk(3, dim=-1).values


def _opset(exported) -> int:
    return next(o.version for o in exported.model.opset_import if o.domain in ("", "ai.onnx"))


@pytest.fixture(scope="module")
def convolutions() -> tuple[nn.Module, ExportedProgram]:
    torch.manual_seed(0)
    model = SmallCnn().eval()
    model.norm.running_mean.uniform_(-1, 1)
    return model, capture(model, (_images(2),), dynamic_shapes=({0: Dim("batch", max=64)},))


def _images(batch: int) -> torch.Tensor:
    return torch.randn(batch, 3, 9, 11)


@pytest.mark.parametrize("opset", OPSETS)
def test_convolutions(convolutions: tuple[nn.Module, ExportedProgram], opset: int) -> None:
    model, captured = convolutions
    exported = assert_exports(
        captured,
        (_images(2),),
        other_inputs=[(_images(5),)],
        reference=model,
        opset_version=opset,
    )
    assert _opset(exported) == opset


@pytest.fixture(scope="module")
def attention() -> tuple[nn.Module, ExportedProgram]:
    torch.manual_seed(0)
    shape = {0: Dim("batch", max=64), 1: Dim("sequence", min=2, max=64)}
    model = SmallTransformer().eval()
    return model, capture(model, _sequences(2, 7), dynamic_shapes=(shape, shape))


def _sequences(batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    mask = torch.ones(batch, length, dtype=torch.bool)
    mask[-1, -1] = False
    return torch.randint(0, 50, (batch, length)), mask


@pytest.mark.parametrize("opset", OPSETS)
def test_attention(attention: tuple[nn.Module, ExportedProgram], opset: int) -> None:
    model, captured = attention
    exported = assert_exports(
        captured,
        _sequences(2, 7),
        other_inputs=[_sequences(3, 5), _sequences(1, 12)],
        reference=model,
        opset_version=opset,
    )
    assert _opset(exported) == opset


@pytest.mark.parametrize("opset", [12, 29, 0, -1])
def test_opsets_that_are_not_targets_are_refused(opset: int) -> None:
    with pytest.raises(Exception, match=str(opset)):
        assert_exports(nn.ReLU(), (torch.ones(2),), opset_version=opset)


class DroppedWindows(nn.Module):
    """Pools whose last window would start in the padding behind the image."""

    def forward(self, x):
        pool = nn.functional
        return (
            pool.avg_pool2d(x, 2, 2, 1, ceil_mode=True),
            pool.max_pool2d(x, 2, 2, 1, ceil_mode=True),
            pool.max_pool2d(x, 1, 3, ceil_mode=True, return_indices=True),
        )


@pytest.mark.parametrize("opset", [13, 20, 26])
def test_a_dropped_window_is_not_declared(opset: int) -> None:
    assert_exports(DroppedWindows(), (torch.randn(1, 2, 7, 6),), opset_version=opset)


class Noise(nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x)


def test_random_numbers_name_the_opset_that_has_them() -> None:
    """ONNX Runtime knows the random operators of opset 22 by name only."""
    with pytest.raises(sardonyx.OnnxExporterError, match=r"opset 22[\s\S]*opset_version=21"):
        sardonyx.export(Noise(), (torch.ones(2),), opset_version=22)
    noise = sardonyx.export(Noise(), (torch.ones(2),), opset_version=21)(torch.ones(2))[0]
    assert bool(((noise >= 1) & (noise < 2)).all())
