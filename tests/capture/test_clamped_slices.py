"""Slices that end or begin past the end of a dimension have the sizes that PyTorch gives them."""

from __future__ import annotations

import itertools
import warnings

import pytest
import torch
from torch.export import Dim

import sardonyx
from tests.harness import difference

SIZES = (0, 1, 2, 3, 4, 7, 33)


def filled(x, y):
    x = x.clone()
    x[:, y.size(0) :] = 0
    return x


SLICES = {
    "filled": filled,
    "to a size": lambda x, y: x[:, : y.size(0)] + 1,
    "from a size": lambda x, y: x[:, y.size(0) :].sum(1),
    "sizes": lambda x, y: torch.ones(x[:, 2 : y.size(0)].shape),
    "from the end": lambda x, y: x[:, -y.size(0) :] * 2,
    "last two": lambda x, y: torch.zeros(x[:, -2:].shape),
    "difference": lambda x, y: torch.zeros(x[:, y.size(0) - 4 : -1].shape),
    "steps": lambda x, y: torch.zeros(x[:, 1 : y.size(0) : 2].shape),
    "numbers": lambda x, y: torch.zeros(x[:, 4:7].shape),
    "joined": lambda x, y: torch.cat([x[:, :3], x[:, y.size(0) :]], 1),
    "twice": lambda x, y: x[:, : y.size(0)][:, 1:].reshape(-1),
    "to what may be the end": lambda x, y: x[-2 : -(3 // max(y.size(0), 1))] + 1,
    "of both": lambda x, y: x[:, : y.size(0)] + y[: x.size(1)],
}
DIMS = {
    "name": ("columns", "length"),
    "Dim": (Dim("columns", min=0, max=64), Dim("length", min=0, max=64)),
    "AUTO": (Dim.AUTO, Dim.AUTO),
}


class Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, y):
        return self.function(x, y)


@pytest.mark.parametrize("dims", DIMS.values(), ids=DIMS)
@pytest.mark.parametrize("function", SLICES.values(), ids=SLICES)
def test_every_size_is_right(function, dims):
    model = Calls(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        made = sardonyx.export(
            model,
            (torch.randn(2, 8), torch.randn(4)),
            dynamic_shapes=({1: dims[0]}, {0: dims[1]}),
        )
    for columns, length in itertools.product(SIZES, SIZES):
        x, y = torch.randn(2, columns), torch.randn(length)
        try:
            wanted = model(x, y)
        except RuntimeError:
            continue
        assert difference(torch.as_tensor(made(x, y)[0]), wanted) is None, (columns, length)


def test_torch_export_warns_of_what_it_asserts():
    model = Calls(SLICES["to a size"])
    shapes = ({1: "columns"}, {0: "length"})
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="past the end"):
        sardonyx.export(
            model, (torch.randn(2, 8), torch.randn(4)), dynamic_shapes=shapes, capture="torch"
        )


def test_a_table_that_has_no_more_rows_is_warned_of():
    def rest(y):
        return torch.arange(10)[y.size(0) :]

    with pytest.warns(sardonyx.errors.SpecializationWarning, match="at most 10"):
        sardonyx.export(rest, (torch.randn(4),), dynamic_shapes=({0: "length"},))
