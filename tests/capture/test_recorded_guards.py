"""What torch.export decided by sizes before its program reached us is warned of."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx
from sardonyx._capture.guards.recorded_guards import recorded_guards


class Above(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.sum() * 2 if x.shape[0] > 4 else y.sum()


class Odd(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.sum() * 2 if x.shape[0] % 2 == 1 else y.sum()


class Longer(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.sum() * 2 if x.shape[0] > y.shape[0] else y.sum()


class Sum(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x[1:] + y.reshape(-1)


def exported(model: nn.Module, rows: int = 3) -> Any:
    shapes = ({0: Dim.AUTO}, {0: Dim.AUTO})
    return torch.export.export(model, (torch.ones(5), torch.ones(rows)), dynamic_shapes=shapes)


CONDITIONS = [
    (Above(), r"x\.shape\[0\] > 4"),
    (Odd(), r"x\.shape\[0\] % 2 == 1"),
    (Longer(), r"x\.shape\[0\] > y\.shape\[0\]"),
]


@pytest.mark.parametrize(("model", "condition"), CONDITIONS)
def test_branches_that_torch_export_resolved_are_warned_of(
    model: nn.Module, condition: str, tmp_path: Path
) -> None:
    program = exported(model)
    torch.export.save(program, tmp_path / "program.pt2")
    for each in (program, torch.export.load(tmp_path / "program.pt2")):
        with pytest.warns(sardonyx.errors.SpecializationWarning, match=condition):
            sardonyx.export(each)


def test_equal_sizes_are_in_the_inputs_shapes_and_not_warned_of() -> None:
    program = exported(Sum(), rows=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sardonyx.export(program)


def test_conditions_are_read_and_not_run() -> None:
    program = exported(Above())
    program._guards_code = [
        "__import__('os').abort()",
        "L['x'].size()[0] ** 10 ** 10 > 1",
        "L['x'].size()[0] >",
        "L['z'].size()[1] // 2 == 3",
        "max(L['x'].size()[0], 2) >= 2",
    ]
    (note,) = recorded_guards(program)
    assert "z.shape[1] // 2 == 3" in note.message
    assert "x.shape" not in note.message
