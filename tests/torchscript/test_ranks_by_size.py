"""Outputs whose rank depends on sizes or is data-dependent."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import sardonyx

SIZES = ((2, 1, 4), (2, 2, 3), (2, 2, 1), (1, 1, 1))
AXES = {"x": {0: "a", 1: "b", 2: "c"}}


class Squeeze(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.squeeze(1)


class SqueezeAll(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.squeeze(x)


class ByData(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):  # noqa: SIM108 (the branches are what is asked)
            y = x
        else:
            y = x[0]
        return y


class AnyAxis(nn.Module):
    def forward(self, x: Tensor, axis: int) -> Tensor:
        return x.squeeze(axis)


@pytest.mark.parametrize(
    "module", [Squeeze(), SqueezeAll(), ByData()], ids=lambda m: type(m).__name__
)
def test_the_older_exporter_declares_no_rank(module: nn.Module) -> None:
    with pytest.warns(UserWarning, match="one rank or another"):
        program = sardonyx.export(
            torch.jit.script(module),
            (torch.randn(2, 1, 4),),
            dynamo=False,
            input_names=["x"],
            dynamic_axes=AXES,
        )
    for sizes in SIZES:
        for sign in (1, -1):
            x = sign * torch.rand(sizes)
            torch.testing.assert_close(program(x)[0], module(x))


def test_an_axis_that_a_run_has_decides_the_rank() -> None:
    script: Any = torch.jit.script(AnyAxis())
    x = torch.randn(2, 1, 4)
    with pytest.warns(UserWarning, match="one rank or another"):
        program = sardonyx.export(script, (x, 1), dynamo=False)
    for axis in (1, 0, -2):
        torch.testing.assert_close(program(x, axis)[0], x.squeeze(axis))


def test_a_kept_axis_is_reported() -> None:
    program = sardonyx.export(
        torch.jit.script(Squeeze()), (torch.randn(2, 2, 4),), dynamic_shapes=AXES
    )
    assert "SX1313" in {note.code for note in program.notes}
    x = torch.randn(3, 5, 2)
    torch.testing.assert_close(program(x)[0], x)


def test_a_rank_by_data_is_an_error() -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1207.*a data-dependent rank"):
        sardonyx.export(torch.jit.script(ByData()), (torch.randn(2, 3),))


@pytest.mark.parametrize("sizes", [(2, 1, 4), (2, 3, 4)])
@pytest.mark.parametrize("module", [Squeeze(), SqueezeAll()], ids=lambda m: type(m).__name__)
def test_an_eager_module_is_traced_for_the_older_exporter(
    module: nn.Module, sizes: tuple[int, ...]
) -> None:
    with pytest.warns(UserWarning, match="one rank or another"):
        program = sardonyx.export(
            module, (torch.randn(sizes),), dynamo=False, input_names=["x"], dynamic_axes=AXES
        )
    for each in SIZES:
        x = torch.randn(each)
        torch.testing.assert_close(program(x)[0], module(x))


def test_a_removed_axis_is_not_dynamic() -> None:
    x = torch.randn(2, 1, 4)
    with pytest.raises(sardonyx.OnnxExporterError, match=r"removes axis 1 of 'x'|SX1011"):
        sardonyx.export(Squeeze(), (x,), dynamic_shapes=({1: torch.export.Dim("b")},))
