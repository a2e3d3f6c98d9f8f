"""Views of several dynamic dimensions that are merged into one."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx
from sardonyx._capture.meta_tracer.meta.fake_kernels import FakeKernels


class Tokens(nn.Module):
    """Pixels of a smaller image as a sequence, and as an image with its channels last again."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 3, stride=4, padding=1)

    def forward(self, image):
        image = self.patches(image)
        batch, channels, height, width = image.shape
        tokens = image.permute(0, 2, 3, 1).reshape(batch, -1, channels)
        rows = tokens.transpose(1, 2).reshape(batch, channels, height, width).flatten(2)
        return tokens.reshape(-1, channels), rows.reshape(batch, 2, -1, height * width)


@pytest.mark.parametrize("dim", [Dim.AUTO, Dim.DYNAMIC])
def test_merged_sizes_are_products_without_fake_tensors(monkeypatch, dim):
    by_fake_tensors = []
    result = FakeKernels.result

    def watched(self, func, args, kwargs):
        by_fake_tensors.append(func.overloadpacket.__name__)
        return result(self, func, args, kwargs)

    monkeypatch.setattr(FakeKernels, "result", watched)
    model = Tokens().eval()
    shapes = ({0: dim, 2: dim, 3: dim},)
    program = sardonyx.export(
        model, (torch.rand(2, 3, 40, 52),), dynamic_shapes=shapes, capture="quick"
    )
    assert not {"reshape", "view", "flatten"} & set(by_fake_tensors)
    for size in ((1, 3, 33, 70), (3, 3, 64, 41)):
        image = torch.rand(size)
        for made, expected in zip(program(image), model(image), strict=True):
            torch.testing.assert_close(torch.as_tensor(made), expected, rtol=1e-4, atol=1e-5)
