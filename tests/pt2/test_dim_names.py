"""Names of dynamic dimensions for programs in files, which torch.export.save() writes without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
from torch.export import Dim

import sardonyx
from tests.harness.command import run_command


class Scaled(torch.nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        return x + 1, y * x.shape[0]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    half, width = Dim("half"), Dim("width")
    program = torch.export.export(
        Scaled(),
        (torch.ones(3, 4), torch.ones(6, 4)),
        dynamic_shapes=({0: half, 1: width}, {0: 2 * half, 1: width}),
    )
    file = tmp_path_factory.mktemp("named") / "m.pt2"
    torch.export.save(program, file)
    return file


def dims(model: Any) -> list[list[Any]]:
    values = [*model.graph.input, *model.graph.output]
    return [[d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values]


NAMED = [["half", "width"], ["2*half", "width"]] * 2


def test_dims_of_inputs_are_named(path: Path) -> None:
    made = sardonyx.convert(path, dim_names={"x:0": "half", "y:-1": "width"})
    assert dims(made.model_proto) == NAMED


def test_symbols_of_the_program_are_named_on_the_command_line(path: Path) -> None:
    symbols = [str(d) for d in dims(sardonyx.convert(path).model_proto)[0]]
    named = ",".join(f"{s}={n}" for s, n in zip(symbols, ("half", "width"), strict=True))
    to = path.with_suffix(".onnx")
    assert run_command("convert", path, "-o", to, "--dim-names", named).returncode == 0
    assert dims(onnx.load(to)) == NAMED


def test_inputs_of_a_program_in_memory_are_named(path: Path) -> None:
    made = sardonyx.convert(torch.export.load(path), dim_names={"x:0": "half", "x:1": "width"})
    assert dims(made.model_proto) == NAMED


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"z:0": "a"}, "the program's inputs are: x, y"),
        ({"x:2": "a"}, "has 2 dimensions"),
        ({"batch": "a"}, "the program's symbols are: s"),
        ({"y:0": "a"}, r"it is computed, 2\*s"),
        ({"x:0": "a b"}, "not an identifier"),
        ({"x:0": "a", "x:1": "a"}, "does not have equal"),
        ({"x:1": "a", "y:1": "b"}, "the same size is named 'a' too"),
    ],
)
def test_names_that_fit_no_dimension_are_errors(
    path: Path, names: dict[str, str], message: str
) -> None:
    with pytest.raises(sardonyx.errors.OnnxExporterError, match=message):
        sardonyx.convert(path, dim_names=names)
