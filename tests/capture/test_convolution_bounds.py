"""Images are as free as convolutions leave them: what a convolution takes bounds them, and no
question of a memory format does."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._compare.tensors import Tolerance
from tests.harness import difference


class Reduced(torch.nn.Module):
    """Keys and values of patches, as Segformer has them: a convolution of transposed tokens."""

    def __init__(self):
        super().__init__()
        self.patches = torch.nn.Conv2d(3, 4, 3, 2, 1)
        self.reduce = torch.nn.Conv2d(4, 4, 4, 4)
        self.depthwise = torch.nn.Conv2d(4, 4, 3, 1, 1, groups=4)

    def forward(self, x):
        x = self.patches(x)
        batch, channels, height, width = x.shape
        tokens = x.flatten(2).transpose(1, 2)
        images = tokens.transpose(1, 2).reshape(batch, channels, height, width)
        keys = self.reduce(images).flatten(2).transpose(1, 2)
        weights = (tokens @ keys.transpose(1, 2)).softmax(-1)
        images = (weights @ keys).transpose(1, 2).view(batch, channels, height, width)
        return self.depthwise(images)


@pytest.mark.parametrize("batch", [1, 2])
def test_images_are_bounded_by_what_the_convolution_takes(batch):
    model = Reduced().eval()
    made = sardonyx.export(
        model,
        (torch.randn(batch, 3, 20, 24),),
        dynamic_shapes={"x": {0: Dim("batch"), 2: Dim("height"), 3: Dim("width")}},
    )
    notes = [note.message for note in made.notes if note.code == "SX1015"]
    assert len(notes) == 2
    assert all("raises in PyTorch where it is not at least 7" in each for each in notes)
    for shape in ((3, 3, 7, 7), (1, 3, 33, 8), (2, 3, 9, 40)):
        x = torch.randn(shape)
        assert difference(made(x)[0], model(x), Tolerance(1e-4, 1e-5)) is None
