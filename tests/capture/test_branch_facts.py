"""What one way of a data-dependent branch learns of data-dependent numbers stays with that way."""

from __future__ import annotations

import warnings

import pytest
import torch

import sardonyx
from tests.harness import difference


class Grows(torch.nn.Module):
    """Positions of tokens, each repeated as often as its number says: made again, and kept, where
    the table is too short."""

    def __init__(self, persistent: bool = False):
        super().__init__()
        self.register_buffer("table", self.positions(6), persistent=persistent)

    def positions(self, count):
        return torch.arange(count)[:, None] * torch.tensor([1.0, 0.5])

    def forward(self, x, counts):
        x = torch.repeat_interleave(x, counts, dim=0)
        if self.table.shape[0] < x.shape[0]:
            self.table = self.positions(x.shape[0])
        return x + self.table[: x.shape[0]], self.table.sum()


def exported(model):
    example = torch.randn(3, 2), torch.tensor([1, 2, 1])
    shapes = {"x": {0: "rows"}, "counts": {0: "rows"}}
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        program = sardonyx.export(model, example, dynamic_shapes=shapes, capture="quick")
    return program, [str(each.message) for each in reported]


def test_a_table_that_grows_with_data_is_made_in_each_call():
    model = Grows()
    program, reported = exported(model)
    kept = [text for text in reported if "keeps in attributes" in text]
    assert len(kept) == 1
    assert kept[0].startswith("self.table: ")
    assert model.table.shape == (6, 2)
    for counts in ([1, 2, 1], [2, 2, 2], [3, 4, 0], [0, 20, 1, 5], [1], [9], [3, 4, 0]):
        x = torch.randn(len(counts), 2)
        got = program(x, torch.tensor(counts))
        for one, other in zip(got, Grows()(x, torch.tensor(counts)), strict=True):
            assert difference(one, other) is None


def test_a_saved_buffer_that_grows_is_declined():
    with pytest.raises(sardonyx.CaptureError, match="assigns a buffer table of another kind"):
        exported(Grows(persistent=True))


class Narrows(torch.nn.Module):
    """Where the first way is taken, there are at most 8 rows."""

    def forward(self, x, counts):
        x = torch.repeat_interleave(x, counts, dim=0)
        rows = x.shape[0]
        y = x[:8] + x[-8:] if rows > 8 else torch.cat([x, x.new_zeros(8 - rows, 2)])
        if rows > 20:
            y = y * 2
        return y, x


def test_the_other_way_has_sizes_that_the_first_one_excludes():
    model = Narrows()
    program, _ = exported(model)
    for counts in ([1, 2, 1], [8], [9], [5, 3, 0], [4, 4, 4], [20, 1], [20, 0], [0, 1, 40]):
        inputs = torch.randn(len(counts), 2), torch.tensor(counts)
        for one, other in zip(program(*inputs), model(*inputs), strict=True):
            assert difference(one, other) is None
