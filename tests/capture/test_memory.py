"""What fake-tensor tracing makes of slices and layouts that only the example tells."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._capture.context import capturing
from sardonyx._capture.meta_tracer.entry.capture import quick_capture
from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.shapes.dynamic_shapes import prepare

from .comparison import Subject, difference


class Rows(torch.nn.Module):
    """Whether rows are cut off, and a copy is made, only the example tells."""

    def forward(self, x, y):
        return x[:, : y.shape[0]].contiguous()


class RowsWritten(torch.nn.Module):
    def forward(self, x, y):
        rows = x[:, : y.shape[0]].contiguous()
        rows.add_(1)
        return x


class RowsAsked(torch.nn.Module):
    def forward(self, x, y):
        return x if x[:, : y.shape[0]].is_contiguous() else x + 1


@pytest.mark.parametrize("model", [RowsWritten(), RowsAsked()])
def test_declines_what_only_the_example_tells_of_memory(model):
    args = (torch.randn(3, 4), torch.randn(4))
    dynamic = prepare(model, args, {}, {"x": {1: Dim.AUTO}, "y": {0: Dim.AUTO}})
    with capturing(), pytest.raises(DeclinedError, match="on sizes"):
        quick_capture(model, args, {}, dynamic.shapes, lambda: pytest.fail("asked"))


def test_copies_what_only_the_example_has_in_rows():
    """torch.export makes the two sizes one."""
    args = (torch.randn(3, 4), torch.randn(4))
    shapes = {"x": {1: Dim.AUTO}, "y": {0: Dim.AUTO}}
    made = sardonyx.export(Rows(), args, dynamic_shapes=shapes, capture="quick")
    x, y = torch.randn(3, 7), torch.randn(5)
    assert torch.equal(made(x, y)[0], x[:, :5])


class RowsWrittenBefore(torch.nn.Module):
    def forward(self, x, y):
        sums = torch.zeros_like(x)
        sums[:, 1:] = x[:, :-1]
        return sums[:, : y.shape[0]].contiguous() + 1


def test_writes_before_such_a_copy_do_not_matter():
    model = RowsWrittenBefore()
    shapes = {"x": {1: Dim.AUTO}, "y": {0: Dim.AUTO}}
    args = (torch.randn(3, 4), torch.randn(4))
    made = sardonyx.export(model, args, dynamic_shapes=shapes, capture="quick")
    for columns, count in ((7, 5), (4, 4), (2, 1)):
        x, y = torch.randn(3, columns), torch.randn(count)
        assert torch.equal(made(x, y)[0], model(x, y))


class LastRows(torch.nn.Module):
    """Of the last block there may be as many as of the others: the start of the slice of `x` is
    below zero in each, which its bounds do not say."""

    def forward(self, x, y):
        parts = []
        for start in range(0, 16, 8):
            count = min(start + 8, y.shape[0]) - start
            torch._check(count >= 0)
            parts.append(y[start : start + count] * x[-count:])
        return torch.cat(parts)


def test_where_a_slice_begins_counts_from_the_end():
    args = (torch.randn(8, 3), torch.randn(12, 3))
    subject = Subject(LastRows(), args, shapes=({}, {0: Dim.AUTO}))
    assert not difference(subject.by_torch(), subject.quickly())
    made = sardonyx.export(LastRows(), args, dynamic_shapes=({}, {0: "rows"}), capture="quick")
    for rows in (10, 15):
        y = torch.randn(rows, 3)
        torch.testing.assert_close(made(args[0], y)[0], LastRows()(args[0], y))


class ByData(torch.nn.Module):
    """Elements that data choose, with the last axis first."""

    def forward(self, x, chosen):
        return x[chosen].transpose(0, 1).contiguous() + 1


class ByDataWritten(torch.nn.Module):
    def forward(self, x, chosen):
        turned = x[chosen].transpose(0, 1)
        turned.contiguous().add_(1)
        return turned


CHOOSING = (torch.randn(4, 3), torch.tensor([True, False, True, True]))


def test_copies_what_data_decide_the_size_of():
    subject = Subject(ByData(), CHOOSING, shapes=({0: Dim.AUTO}, {0: Dim.AUTO}))
    assert not difference(subject.by_torch(), subject.quickly())


def test_declines_writes_to_such_a_copy():
    dynamic = prepare(ByDataWritten(), CHOOSING, {}, None)
    with capturing(), pytest.raises(DeclinedError, match="a copy or a view depends"):
        quick_capture(ByDataWritten(), CHOOSING, {}, dynamic.shapes, lambda: pytest.fail("asked"))


class Leaf(torch.nn.Module):
    """A result that would have a gradient, where gradients are on."""

    def __init__(self, is_used):
        super().__init__()
        self.is_used = is_used

    def forward(self, x):
        leaf = torch.zeros_like(x).requires_grad_()
        with torch.set_grad_enabled(self.is_used):
            return leaf * x


def test_a_leaf_is_a_tensor_like_others_without_gradients():
    subject = Subject(Leaf(False), (torch.randn(3, 4),), shapes=({0: Dim.AUTO},))
    assert not difference(subject.by_torch(), subject.quickly())
    with pytest.raises(DeclinedError, match="gradients are on"):
        Subject(Leaf(True), (torch.randn(3, 4),)).quickly()
