"""Views of several dynamic dimensions that are merged into one."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx
from sardonyx._capture.meta_tracer.meta.fake_kernels import FakeKernels
from tests.harness import difference


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


class LooksUp(torch.nn.Module):
    """Positions of one row, which are viewed as rows of the input's length."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(64, 8)

    def forward(self, x, positions):
        return x + self.table(positions.view(-1, x.shape[1]))


def test_a_view_of_one_row_says_that_two_lengths_are_equal():
    model, dims = LooksUp(), {0: Dim.AUTO, 1: Dim.AUTO}
    given = torch.randn(2, 5, 8), torch.arange(5)[None]
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="makes it 1") as warned:
        made = sardonyx.export(model, given, dynamic_shapes=(dims, dims), capture="quick")
    assert len(warned) == 1
    for rows, length in ((2, 5), (3, 7), (1, 9), (4, 2)):
        x, positions = torch.randn(rows, length, 8), torch.arange(length)[None]
        assert difference(made(x, positions)[0], model(x, positions)) is None


def test_lengths_with_two_names_are_warned_of():
    given, dims = (torch.randn(2, 5, 8), torch.arange(5)[None]), ({0: "b", 1: "n"}, {1: "m"})
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="equal to 'n'"):
        sardonyx.export(LooksUp(), given, dynamic_shapes=dims, capture="quick")


class HasFiveRows(torch.nn.Module):
    """Reads the size of a view: a quotient that either dimension may have the divisor of."""

    def forward(self, x):
        rows = x.view(5, -1)
        return rows, torch.full((1,), rows.shape[1])


def test_a_quotient_of_all_elements_is_one_of_no_dimension():
    dims = ({0: Dim.AUTO, 1: Dim.AUTO},)
    made = sardonyx.export(HasFiveRows(), (torch.randn(50, 5),), dynamic_shapes=dims)
    for shape in ((1, 5), (3, 5), (5, 1), (5, 7), (10, 4), (2, 10)):
        x = torch.randn(shape)
        for one, other in zip(made(x), HasFiveRows()(x), strict=True):
            assert difference(one, other) is None, shape
