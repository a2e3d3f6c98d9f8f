"""What torch.export decided by sizes before its program reached us is warned of."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx
from tests.harness.command import run_command


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


class Nested(nn.Module):
    def forward(self, x: list[torch.Tensor], y: dict[str, torch.Tensor]) -> torch.Tensor:
        return x[0] + y["a"] if x[0].shape[0] > 4 else x[0] - y["a"]


def exported(model: nn.Module, rows: int = 3) -> Any:
    shapes = ({0: Dim.AUTO}, {0: Dim.AUTO})
    return torch.export.export(model, (torch.ones(5), torch.ones(rows)), dynamic_shapes=shapes)


CONDITIONS = [
    (Above(), r"x\.shape\[0\] > 4"),
    (Odd(), r"\(x\.shape\[0\] % 2\) == 1"),
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


def test_equal_sizes_in_lists_and_dictionaries_are_not_warned_of() -> None:
    rows = {0: Dim.AUTO}
    program = torch.export.export(
        Nested(),
        ([torch.ones(8)], {"a": torch.ones(8)}),
        dynamic_shapes=([rows], {"a": rows}),
    )
    with pytest.warns(sardonyx.errors.SpecializationWarning) as caught:
        sardonyx.export(program)
    (message,) = (str(each.message) for each in caught)
    assert "x[0].shape[0] > 4: " in message


def test_conditions_are_read_and_not_run() -> None:
    program = exported(Above())
    program._guards_code = [
        "__import__('os').abort()",
        "L['x'].size()[0] ** 10 ** 10 > 1",
        "L['x'].size()[0] >",
        "L['x'].dtype == torch.float32",
        "L['z'].size()[1] // 2 == 3",
        "max(L['x'].size()[0], 2) >= 2",
    ]
    (note,) = (each for each in sardonyx.convert(program).notes if each.code == "SX1015")
    assert "z.shape[1] // 2 == 3" in note.message
    assert "x.shape" not in note.message


@pytest.mark.parametrize(("model", "condition"), CONDITIONS)
def test_the_command_warns_of_them_without_pytorch(
    model: nn.Module, condition: str, tmp_path: Path
) -> None:
    torch.export.save(exported(model), tmp_path / "program.pt2")
    done = run_command("convert", tmp_path / "program.pt2", "-o", tmp_path / "model.onnx")
    assert re.search("SX1015.*" + condition, done.stderr)
