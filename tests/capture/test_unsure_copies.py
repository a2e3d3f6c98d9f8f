"""Copies that are views at some sizes, next to writes: warned of where they can show."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim

import sardonyx
from tests.harness import difference

Y, X = torch.randn(3, 4), torch.randn(3, 4)
WARNED = pytest.warns(sardonyx.errors.SpecializationWarning, match="copy or a view by the sizes")


class Written(torch.nn.Module):
    def __init__(self, made: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.made = made

    def forward(self, y: torch.Tensor, x: torch.Tensor) -> Any:
        return self.made(y.clone(), x)


def base(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    z = y.transpose(0, 1).contiguous()
    y[...] = x
    return z


def base_of_elements(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    z = y.transpose(0, 1).reshape(-1)
    y.mul_(x)
    return z


def copy(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    z = y.transpose(0, 1).contiguous()
    z.mul_(2)
    return y + x


def copy_alone(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    z = y.transpose(0, 1).contiguous()
    z.mul_(2)
    return z + x.transpose(0, 1)


def before(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y.add_(x)
    return y.transpose(0, 1).contiguous()


def clone(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    z = y.transpose(0, 1).clone()
    y[...] = x
    return z


def exported(made: Callable[[Any, Any], Any], dim: Any, capture: Any = "auto") -> Any:
    return sardonyx.export(
        Written(made), (Y, X), dynamic_shapes=({0: dim}, {0: dim}), capture=capture
    )


@pytest.mark.parametrize("made", [base, base_of_elements, copy])
def test_a_write_that_shows_in_a_view_of_one_row_is_warned_of(made: Any) -> None:
    with WARNED:
        exported(made, "n", "quick")


def test_torch_export_warns_of_it_too() -> None:
    with WARNED:
        exported(base_of_elements, "n", "torch")


@pytest.mark.parametrize("made", [copy_alone, before, clone])
def test_one_that_does_not_show_is_right(made: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        program = exported(made, "n", "quick")
    for n in (1, 2, 5):
        y, x = torch.randn(n, 4), torch.randn(n, 4)
        assert difference(program(y, x)[0], Written(made)(y, x)) is None, n


@pytest.mark.parametrize("made", [base, base_of_elements, copy])
def test_of_two_rows_and_more_it_is_right(made: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        program = exported(made, Dim("n", min=2), "quick")
    for n in (2, 5):
        y, x = torch.randn(n, 4), torch.randn(n, 4)
        assert difference(program(y, x)[0], Written(made)(y, x)) is None, n


def in_a_branch(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        z = y.T.contiguous()
        y.add_(1)
        return z * 3
    return y.T * 1


def written_in_a_branch(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    z = y.T.contiguous()
    if x.sum() > 0:
        y.add_(1)
    else:
        y.mul_(3)
    return z


def copy_written_in_a_branch(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    z = y.T.contiguous()
    if x.sum() > 0:
        z.add_(1)
    else:
        z.mul_(3)
    return y


def in_a_loop(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    for _ in range(x.shape[1]):
        z = y.T.contiguous()
        z.add_(1)
    return y


@pytest.mark.parametrize(
    "made", [in_a_branch, written_in_a_branch, copy_written_in_a_branch, in_a_loop]
)
def test_bodies_of_branches_and_loops_are_looked_at(made: Callable[[Any, Any], Any]) -> None:
    dims = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    with WARNED:
        sardonyx.export(Written(made), (Y, X), dynamic_shapes=(dims, dims))


def copy_alone_in_a_branch(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        z = y.T.contiguous()
        z.add_(1)
        return z * 3
    return y.T * 1


def test_a_copy_in_a_branch_that_nothing_else_reads_is_quiet() -> None:
    dims = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    model = Written(copy_alone_in_a_branch)
    made = sardonyx.export(model, (Y, X), dynamic_shapes=(dims, dims))
    for rows, columns in ((3, 4), (1, 4), (5, 1), (1, 1)):
        for sign in (1, -1):
            y, x = torch.randn(rows, columns), sign * torch.rand(rows, columns)
            assert difference(made(y, x)[0], model(y, x)) is None
