"""Programs that are converted to another precision on export: the result is that of `optimize`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import sardonyx
from tests.harness.command import run_command


class Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.up = torch.nn.Linear(64, 32, bias=False)
        self.down = torch.nn.Linear(32, 64, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.up(x)))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("precision") / "layers.pt2"
    rows = torch.export.Dim("rows")
    program = torch.export.export(Layers(), (torch.ones(3, 64),), dynamic_shapes=({0: rows},))
    torch.export.save(program, path)
    return path


@pytest.mark.parametrize("to", ["fp16", "bf16", "int8", "int4"])
def test_as_by_optimizing(archive: Path, to: str, tmp_path: Path) -> None:
    plain, at_once, after = (tmp_path / f"{name}.onnx" for name in ("plain", "at_once", "after"))
    words = ["--runtime", "onnxruntime-cpu"]
    assert run_command("convert", archive, "-o", plain, *words).returncode == 0
    words += ["--precision", to]
    done = run_command("convert", archive, "-o", at_once, *words, "--json")
    assert done.returncode == 0, done.stderr
    weights = json.loads(done.stdout)["weights"]
    assert [each["name"] for each in weights] == ["up.weight", "down.weight"]
    assert all(0 < each["relative_error"] < 0.2 for each in weights)
    assert run_command("optimize", plain, "-o", after, *words).returncode == 0

    onnx.checker.check_model(at_once, full_check=True)
    x = np.random.default_rng(0).standard_normal((5, 64)).astype(np.float32)
    answers = [run(path, x) for path in (at_once, after)]
    np.testing.assert_array_equal(*answers)
    with torch.no_grad():
        exact = Layers()(torch.from_numpy(x)).numpy()
    assert np.abs(answers[0] - exact).max() < 0.1


@pytest.mark.parametrize("to", ["bf16", "int4"])
def test_in_python(archive: Path, to: Any, tmp_path: Path) -> None:
    """Of a file and of a program: the model that the command line makes."""
    by_command, by_file, by_program = (tmp_path / f"{name}.onnx" for name in "abc")
    words = ["--runtime", "onnxruntime-cpu", "--precision", to, "--keep", "up"]
    assert run_command("convert", archive, "-o", by_command, *words).returncode == 0
    asked = sardonyx.Precision(to, keep="up")
    for given, path in ((archive, by_file), (torch.export.load(archive), by_program)):
        made = sardonyx.convert(given, target_runtime="onnxruntime-cpu", precision=asked)
        made.save(path)
    x = np.random.default_rng(0).standard_normal((5, 64)).astype(np.float32)
    for path in (by_file, by_program):
        assert _operators(path) == _operators(by_command)
        np.testing.assert_array_equal(run(path, x), run(by_command, x))


def test_what_is_no_precision(archive: Path) -> None:
    with pytest.raises(sardonyx.ConversionError, match="int3"):
        sardonyx.convert(archive, precision="int3")  # type: ignore[arg-type]


def _operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def run(path: Path, x: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    result: np.ndarray = session.run(None, {"x": x})[0]
    return result


def test_blocks_make_the_opset_newer(archive: Path, tmp_path: Path) -> None:
    """Where no opset is named; where one is, an older one is refused, and nothing is written."""
    out = tmp_path / "model.onnx"
    words = ["convert", archive, "-o", out, "--runtime", "standard", "--precision", "int8"]
    refused = run_command(*words, "--opset", "18", "--json")
    assert [each["code"] for each in json.loads(refused.stdout)["diagnostics"]] == ["SX1815"]
    assert not out.exists()
    assert run_command(*words).returncode == 0
    model = onnx.load(out)
    assert model.opset_import[0].version == 21
    assert "DequantizeLinear" in {node.op_type for node in model.graph.node}
