"""`sardonyx inspect --cost`: multiply-adds and bytes, by operator and module."""

from __future__ import annotations

from pathlib import Path

import onnx

import sardonyx
from tests.harness.command import run_command
from tests.harness.json_output import told
from tests.quantization.test_quantize import residual_model, samples
from tests.viewer.test_page import data_of

# Of the two convolutions at 16 and 8 points, and of the linear layer.
MULTIPLY_ADDS = 8 * 16 * 16 * 27 + 8 * 8 * 8 * 72 + 5 * 8


def test_multiply_adds(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(residual_model(), path)
    done = run_command("inspect", path, "--cost", "--json", "--size", "n=4")
    cost = told(done.stdout, "inspect-model")["cost"]
    assert cost["multiply_adds"] == 4 * MULTIPLY_ADDS
    assert cost["unknown"] == 0
    assert [each["name"] for each in cost["operators"]][:2] == ["Conv", "Gemm"]
    text = run_command("inspect", path, "--cost").stdout
    assert f"{MULTIPLY_ADDS / 1e6:.3f} M" in text


def test_times_of_a_model_before_and_after(tmp_path: Path) -> None:
    before, after, page = tmp_path / "m.onnx", tmp_path / "q.onnx", tmp_path / "page.html"
    onnx.save(residual_model(), before)
    sardonyx.quantize(before, samples(), after)
    cost = told(
        run_command("inspect", before, "--cost", "--time", "--json").stdout, "inspect-model"
    )["cost"]
    named = {each["name"]: each["milliseconds"] for each in cost["operators"]}
    # The names that ONNX Runtime gives to what it fused lead back to the model's nodes.
    assert named["Conv"] > 0
    assert sum(named.values()) <= cost["milliseconds"] * 1.001
    done = run_command(
        "inspect", before, "--diff", after, "--cost", "--time", "--html", page
    )  # fmt: skip
    assert "QuantizeLinear" in done.stdout
    assert " -> " in done.stdout
    assert " ms" in done.stdout
    data = data_of(page.read_text())
    assert len(data["costs"]) == 2
    (measure,) = data["measures"]
    assert any(measure["nodes"])
    assert any(measure["others"])
    done = run_command("inspect", before, "--diff", after, "--cost", "--json")
    assert [each["multiply_adds"] for each in told(done.stdout, "diff")["costs"]] == [
        MULTIPLY_ADDS, MULTIPLY_ADDS,
    ]  # fmt: skip
    done = run_command("inspect", before, "--time")
    assert done.returncode == 2


def test_a_model_that_does_not_run_has_no_times(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    model = residual_model()
    model.graph.node[0].domain = "nobody.has"
    model.opset_import.append(onnx.helper.make_opsetid("nobody.has", 1))
    onnx.save(model, path)
    done = run_command("inspect", path, "--cost", "--time")
    assert done.returncode == 1
    assert "SX2006" in done.stderr


def test_a_dimension_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(residual_model(), path)
    done = run_command("inspect", path, "--cost", "--size", "batch=4")
    assert done.returncode != 0
    assert "no dynamic dimension 'batch'" in done.stderr
