"""Normalizations over channels, as users write them, compared with eager PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import sardonyx
from tests.harness import Session, difference


class OfChannels(nn.Module):
    """ConvNeXt's: mean and variance over axis 1, scaled and shifted by channel."""

    def __init__(self, channels: int, spelling: str) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(channels)
        self.weight = nn.Parameter(torch.randn(channels, generator=generator))
        self.bias = nn.Parameter(torch.randn(channels, generator=generator))
        self.spelling = spelling

    def forward(self, x: Tensor) -> Tensor:
        scale, shift = self.weight[:, None, None], self.bias[:, None, None]
        if self.spelling == "moved":
            y = nn.functional.layer_norm(x.permute(0, 2, 3, 1), self.weight.shape, eps=1e-6)
            return scale * y.permute(0, 3, 1, 2) + shift
        mean = x.mean(1, keepdim=True)
        if self.spelling == "var":
            return (x - mean) / torch.sqrt(x.var(1, keepdim=True, unbiased=False) + 1e-6) * scale
        if self.spelling == "rms":
            return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-6) * scale
        variance = (x - mean).pow(2).mean(1, keepdim=True)
        return scale * ((x - mean) / torch.sqrt(variance + 1e-6)) + shift


def _inputs(sizes: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(1)).to(dtype)


@pytest.mark.parametrize("spelling", ["mean", "var", "rms", "moved"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
@pytest.mark.parametrize("opset", [17, 20, 23])
def test_as_in_eager(spelling: str, dtype: torch.dtype, opset: int, tmp_path) -> None:
    module = OfChannels(5, spelling).to(dtype).eval()
    free = {0: "n", 2: "h", 3: "w"}
    program = sardonyx.export(
        module,
        (_inputs((2, 5, 3, 4), dtype),),
        dynamic_shapes=({k: torch.export.Dim(v, min=0) for k, v in free.items()},),
        opset_version=opset,
    )
    path = tmp_path / "model.onnx"
    program.save(path)
    session = Session(path)
    for sizes in ((2, 5, 3, 4), (1, 5, 1, 1), (3, 5, 1, 7), (0, 5, 2, 2), (1, 5, 0, 3)):
        x = _inputs(sizes, dtype)
        if x.numel() > 40:
            x[0, 1, 0, 0], x[0, 2, 0, 1] = torch.nan, torch.inf
        assert not difference(session.run([x])[0], module(x)), sizes


@pytest.mark.parametrize("spelling", ["mean", "var", "rms", "moved"])
def test_a_model_of_torch_onnx(spelling: str, tmp_path) -> None:
    """The same with the TorchScript-based exporter, and then our optimizer."""
    module = OfChannels(5, spelling).eval()
    x = _inputs((2, 5, 3, 4), torch.float32)
    source, made = tmp_path / "before.onnx", tmp_path / "after.onnx"
    torch.onnx.export(
        module,
        (x,),
        str(source),
        dynamo=False,
        do_constant_folding=False,
        input_names=["x"],
        dynamic_axes={"x": {0: "n", 2: "h", 3: "w"}},
    )
    sardonyx.optimize(source, made)
    session = Session(made)
    for sizes in ((2, 5, 3, 4), (1, 5, 1, 1), (0, 5, 2, 2)):
        x = _inputs(sizes, torch.float32)
        assert not difference(session.run([x])[0], module(x)), sizes
