"""include/sardonyx/torch.h: examples/libtorch, built with the libtorch of the installed PyTorch.

`make libtorch` runs it: compiling PyTorch's headers takes a minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch

from .language import CASES

_ROOT = Path(__file__).parents[2]
_INSTALLED = os.environ.get("SARDONYX_INSTALLED")
pytestmark = [
    pytest.mark.skipif(_INSTALLED is None, reason="make libtorch says where Sardonyx is installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("libtorch")
    prefixes = f"{_INSTALLED};{torch.utils.cmake_prefix_path}"
    configure = ["cmake", "-S", str(_ROOT / "examples/libtorch"), "-B", str(build), "-Wno-dev"]
    options = [f"-DCMAKE_PREFIX_PATH={prefixes}", f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run([*configure, *options], check=True)
    subprocess.run(["cmake", "--build", str(build)], check=True)
    return build / "export"


def _run(model: Path, *inputs: torch.Tensor) -> np.ndarray[Any, Any]:
    onnx.checker.check_model(model, full_check=True)
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]
    feed = {n: i.numpy() for n, i in zip(names, inputs, strict=True)}
    found: np.ndarray[Any, Any] = session.run(None, feed)[0]
    return found


def test_a_module_of_torch_nn_is_traced(program: Path, tmp_path: Path) -> None:
    model = tmp_path / "net.onnx"
    subprocess.run([str(program), str(model)], check=True)
    x, offset, expected = torch.load(f"{model}.pt", weights_only=False)
    np.testing.assert_allclose(_run(model, x, offset), expected, rtol=1e-4, atol=1e-5)
    names = {weight.name for weight in onnx.load(model).graph.initializer}
    assert {"first.weight", "first.bias", "norm.weight"} <= names


@pytest.mark.parametrize("name", ["for_rows", "append_where", "Attributes"])
def test_a_scripted_module_keeps_its_loops(name: str, program: Path, tmp_path: Path) -> None:
    case = CASES[name]
    scripted: Any = torch.jit.script(case.program)
    scripted.save(str(tmp_path / "model.pt"))
    model = tmp_path / "model.onnx"
    subprocess.run([str(program), str(tmp_path / "model.pt"), str(model)], check=True)
    for args in case.runs:
        expected = scripted(*args).detach()
        np.testing.assert_allclose(_run(model, *args), expected, rtol=1e-4, atol=1e-5)
