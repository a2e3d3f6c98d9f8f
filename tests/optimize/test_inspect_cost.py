"""`sardonyx inspect --cost`: multiply-adds and bytes, by operator and module."""

from __future__ import annotations

from pathlib import Path

import onnx

from tests.harness.command import run_command
from tests.harness.json_output import told
from tests.quantization.test_quantize import residual_model

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


def test_a_dimension_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(residual_model(), path)
    done = run_command("inspect", path, "--cost", "--size", "batch=4")
    assert done.returncode != 0
    assert "no dynamic dimension 'batch'" in done.stderr
