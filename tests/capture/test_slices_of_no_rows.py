"""Slices of a dimension that may have no elements: `x[:1]` of no rows has none, and the model says
so, whatever is made of the slice."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import sardonyx
from tests.harness import Calls, difference


def is_written(x: Tensor) -> Tensor:
    y = x.repeat(4, 1)
    y[:2] = torch.arange(3.0)
    return y


def is_written_through_a_view(x: Tensor) -> Tensor:
    y = x.repeat(4, 1)
    y[:2][:, 1] = 7
    return y


# What a slice is used for.
USES: dict[str, Callable[[Tensor], Tensor]] = {
    "written": is_written,
    "written through a view": is_written_through_a_view,
    "filled": lambda x: torch.cat([torch.zeros_like(x[:1]), x]),
    "filled by shape": lambda x: x.new_ones(x[-1:].shape),
    "counted": lambda x: x.sum() + len(x[:1]) + x[:1].numel(),
    "averaged": lambda x: x[:1].mean(0),
    "of a multiple": lambda x: torch.ones_like(x.repeat(4, 1)[:3]),
    "broadcast to its own rows": lambda x: x[:1] + x,
    "expanded": lambda x: torch.arange(3.0)[None].expand(x[:1].shape[0], 3),
    "repeated": lambda x: torch.stack([x[:1], x[-1:]]),
    "flattened": lambda x: x[:1].mul(2).sum(1),
    "counted behind the first": lambda x: torch.full((1,), x[1:].shape[0]) + x[:-1].numel(),
    "filled behind the first": lambda x: torch.ones_like(x[1:]),
    "counted, and one more": lambda x: x.new_ones(x[1:].shape[0] + 1, 2),
    "counted in a square": lambda x: x.new_ones((x[1:] * 2).size(0) * len(x[1:]) + 1),
    "differences": lambda x: torch.diff(x, dim=0),
    "differences, filled": lambda x: torch.ones_like(torch.diff(x, dim=0)),
    "differences, counted": lambda x: x.sum() + torch.diff(x, dim=0).numel(),
    "put before differences": lambda x: torch.diff(x, dim=0, prepend=x[:1]),
}
# PyTorch raises, or gives another rank, where there are no rows. So the model fails there.
FAILING: dict[str, Callable[[Tensor], Tensor]] = {
    "broadcast to other rows": lambda x: x[:1] + torch.ones(4, 3),
    "expanded to other rows": lambda x: x[:1].expand(4, 3) * 2,
    "indexed": lambda x: x[:1][0],
    "squeezed": lambda x: x[:1].squeeze(0) + 1,
    "flattened into a table": lambda x: x[:1].reshape(3) + 1,
}


def exported(function: Callable[[Tensor], Tensor]) -> sardonyx.ONNXProgram:
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        return sardonyx.export(
            Calls(function),
            (torch.randn(5, 3),),
            dynamic_shapes=({0: torch.export.Dim.DYNAMIC},),
            capture="quick",
        )


@pytest.mark.parametrize("function", USES.values(), ids=USES)
def test_a_slice_of_no_rows_has_none(function: Callable[[Tensor], Tensor]) -> None:
    program = exported(function)
    for rows in (0, 1, 2, 7):
        x = torch.randn(rows, 3)
        assert not difference(program(x)[0], function(x)), rows


@pytest.mark.parametrize("function", FAILING.values(), ids=FAILING)
def test_what_needs_a_row_fails_without_one(function: Callable[[Tensor], Tensor]) -> None:
    program = exported(function)
    for rows in (1, 2, 7):
        x = torch.randn(rows, 3)
        assert not difference(program(x)[0], function(x)), rows
    with pytest.raises(Exception, match=r"(?i)status|onnxruntime"):
        program(torch.randn(0, 3))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:1] + torch.ones(4, 3),
        lambda x: x.sum() + torch.diff(x, dim=0).numel(),
        lambda x: x.new_ones(torch.diff(x, dim=0).shape[0] + 1),
    ],
    ids=["slice", "differences", "differences, and one more"],
)
def test_torch_export_is_warned_of(function: Callable[[Tensor], Tensor]) -> None:
    """What it captures takes sizes for at least 1 where it finds nothing better."""
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="is shorter than captured"):
        sardonyx.export(
            Calls(function),
            (torch.randn(5, 3),),
            dynamic_shapes=({0: torch.export.Dim.DYNAMIC},),
            capture="torch",
        )


SPLITS: dict[str, Callable[[Tensor], Tensor]] = {
    "two rows in parts of n": lambda x: x.T[:2].split(max(x.shape[0], 1))[0],
    "n rows in two parts": lambda x: x.split(max(x.shape[0] - 1, 1))[0],
}


@pytest.mark.parametrize("function", SPLITS.values(), ids=SPLITS)
def test_a_split_into_other_parts_is_warned_of(function: Callable[[Tensor], Tensor]) -> None:
    """Of a size of 1, they are two instead of one, and one instead of two."""
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="whether|of another size"):
        sardonyx.export(
            Calls(function),
            (torch.randn(5, 3),),
            dynamic_shapes=({0: torch.export.Dim.DYNAMIC},),
        )
