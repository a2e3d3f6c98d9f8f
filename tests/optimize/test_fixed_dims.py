"""Dynamic dimensions that become numbers, or get a bound: of programs, files and live models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import sardonyx
from tests.harness.command import run_command


class Heads(torch.nn.Module):
    """Its shapes are computed of both dynamic dimensions."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.arange(x.shape[1]).unsqueeze(-1)
        return (x + places).view(x.shape[0], x.shape[1], 2, 2).transpose(1, 2).flatten(2)


X = torch.rand(2, 5, 4)
DIMS = ({0: torch.export.Dim("batch", max=8), 1: torch.export.Dim("length", min=2, max=64)},)


def shapes(model: onnx.ModelProto) -> list[list[Any]]:
    values = (*model.graph.input, *model.graph.output)
    return [[d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values]


def assert_fixed(model: onnx.ModelProto) -> None:
    assert shapes(model) == [[1, 7, 4], [1, 2, 14]]
    # What shapes are made of is decided, and what is made of them is computed.
    assert {node.op_type for node in model.graph.node} <= {"Add", "Reshape", "Transpose"}
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    x = torch.rand(1, 7, 4)
    (y,) = session.run(None, {model.graph.input[0].name: x.numpy()})
    np.testing.assert_allclose(y, Heads()(x).numpy(), rtol=1e-6)


def test_of_a_live_model() -> None:
    fixed = {"batch": 1, "length": 7}
    assert_fixed(sardonyx.export(Heads(), (X,), dynamic_shapes=DIMS, fixed=fixed).model_proto)


def test_of_files(tmp_path: Path) -> None:
    program = torch.export.export(Heads(), (X,), dynamic_shapes=DIMS)
    torch.export.save(program, tmp_path / "model.pt2")
    free = sardonyx.convert(tmp_path / "model.pt2")
    free.save(tmp_path / "free.onnx")
    # The archive has no names of the user's.
    batch, length, _ = shapes(free.model_proto)[0]
    made = tmp_path / "fixed.onnx"
    for command, source in (("convert", "model.pt2"), ("optimize", "free.onnx")):
        run = run_command(
            command, tmp_path / source, "-o", made, "--fixed", f"{batch}=1,{length}=7"
        )
        assert run.returncode == 0, run.stderr
        assert_fixed(onnx.load(made))


def test_one_of_two() -> None:
    model = sardonyx.export(Heads(), (X,), dynamic_shapes=DIMS).model_proto
    one, _ = sardonyx.optimize(model, fixed={"batch": 3})
    assert shapes(one) == [[3, "length", 4], [3, 2, "2*length"]]


def bounds(model: onnx.ModelProto) -> dict[str, str]:
    prefix = "sardonyx.dim."
    metadata = {each.key: each.value for each in model.metadata_props}
    return {key[len(prefix) :]: value for key, value in metadata.items() if key.startswith(prefix)}


def test_bounds_that_a_file_has_hold() -> None:
    model = sardonyx.export(Heads(), (X,), dynamic_shapes=DIMS).model_proto
    assert bounds(model) == {"batch": "batch <= 8", "length": "length <= 64"}
    with pytest.raises(sardonyx.errors.UsageError, match=r"batch \(0 to 8\)"):
        sardonyx.optimize(model, fixed={"batch": 9})
    one, _ = sardonyx.optimize(model, fixed={"batch": 3}, max_sizes={"length": 16})
    assert bounds(one) == {"length": "length <= 16"}


@pytest.mark.parametrize(
    "text",
    [
        "inconsistent min=1, max=-oo",
        "8 <= batch <= 3",
        "batch <= 99999999999999999999",
        "3 <= b",
        "",
    ],
)
def test_bounds_that_a_file_has_and_that_are_none_are_an_error(text: str) -> None:
    model = sardonyx.export(Heads(), (X,), dynamic_shapes=DIMS).model_proto
    for entry in model.metadata_props:
        if entry.key == "sardonyx.dim.batch":
            entry.value = text
    with pytest.raises(sardonyx.errors.UsageError, match=r"`sardonyx.dim.batch`") as caught:
        sardonyx.optimize(model, max_sizes={"length": 16})
    assert [each.code for each in caught.value.diagnostics] == ["SX1019"]


def test_a_number_and_a_bound_of_one_dimension(tmp_path: Path) -> None:
    """The number has to be within the bound."""
    sardonyx.export(Heads(), (X,), dynamic_shapes=DIMS).save(tmp_path / "m.onnx")
    made = tmp_path / "made.onnx"
    words = ("optimize", tmp_path / "m.onnx", "-o", made, "--max", "length=20", "--fixed")
    assert run_command(*words, "length=16").returncode == 0
    assert shapes(onnx.load(made))[0] == ["batch", 16, 4]
    assert bounds(onnx.load(made)) == {"batch": "batch <= 8"}
    outside = run_command(*words, "length=21")
    assert outside.returncode != 0
    assert "SX1019" in outside.stderr
    assert "length (0 to 20)" in outside.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fixed": {"batch": 9}}, "batch cannot be 9"),
        ({"fixed": {"length": 1}}, r"length \(2 to 64\)"),
        ({"fixed": {"width": 1}}, "no dynamic dimension `width`"),
        ({"fixed": {"batch": -1}}, "SX1001"),
    ],
)
def test_what_cannot_be_is_an_error(options: Any, message: str) -> None:
    with pytest.raises(sardonyx.errors.UsageError, match=message):
        sardonyx.export(Heads(), (X,), dynamic_shapes=DIMS, **options)


def test_a_size_of_one_is_no_error_where_nothing_is_declared() -> None:
    shapes_given = ({0: "batch", 1: "length"},)
    fixed = {"batch": 1, "length": 7}
    assert_fixed(
        sardonyx.export(Heads(), (X,), dynamic_shapes=shapes_given, fixed=fixed).model_proto
    )


def test_a_file_whose_nodes_stay_gets_its_sizes(tmp_path: Path) -> None:
    sardonyx.export(torch.nn.ReLU(), (X,), tmp_path / "free.onnx", dynamic_shapes=({0: "batch"},))
    run = run_command(
        "optimize", tmp_path / "free.onnx", "-o", tmp_path / "b.onnx", "--fixed", "batch=3"
    )
    assert run.returncode == 0, run.stderr
    assert shapes(onnx.load(tmp_path / "b.onnx")) == [[3, 5, 4], [3, 5, 4]]
    twice = ("--fixed", "batch=3,batch=4")
    run = run_command("optimize", tmp_path / "free.onnx", "-o", tmp_path / "c.onnx", *twice)
    assert run.returncode == 2
    assert "two numbers for batch" in run.stderr


def test_sizes_that_the_operators_do_not_take_are_an_error() -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
    g (float[batch, length, 4] x, float[1, 8, 4] table) => (float[batch, length, 4] y) {
        a = Constant<value_ints = [1, 8, 4]>()
        zeros = ConstantOfShape(a)
        y = Add(x, zeros)
    }"""
    model = onnx.parser.parse_model(text)
    assert shapes(sardonyx.optimize(model, fixed={"length": 8}).model)[0] == ["batch", 8, 4]
    assert shapes(sardonyx.optimize(model, fixed={"batch": 9}).model)[0] == [9, "length", 4]
    with pytest.raises(sardonyx.errors.UsageError, match="does not run with these fixed sizes"):
        sardonyx.optimize(model, fixed={"length": 9})
    # What a file is wrong in without them stays as it is.
    wrong = onnx.parser.parse_model(text.replace("Add(x, zeros)", "MatMul(x, zeros)"))
    assert shapes(sardonyx.optimize(wrong, fixed={"length": 8}).model)[0] == ["batch", 8, 4]


def test_max_is_a_bound() -> None:
    model = sardonyx.export(Heads(), (X,), dynamic_shapes=DIMS).model_proto
    assert sardonyx.optimize(model, max_sizes={"length": 32}).model is not None
    with pytest.raises(sardonyx.errors.UsageError, match="SX1019"):
        sardonyx.optimize(model, max_sizes={"width": 32})
