"""A package that is not there: one line says which, for what, and how to install it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.harness.rotation import long_test

LINEAR = "program = sardonyx.export(torch.nn.Linear(2, 2), (torch.rand(1, 2),))"


def said(*lines: str) -> str:
    """What the error says that the lines end in, in a Python of their own."""
    body = "\n    ".join(lines)
    code = (
        f"import sys, sardonyx\ntry:\n    {body}\nexcept sardonyx.OnnxExporterError as e: print(e)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ended.stdout


@pytest.mark.parametrize("line", ["sardonyx.export(None, ())", "sardonyx.ops.attention"])
def test_torch(line: str) -> None:
    text = said("sys.modules['torch'] = None", line)
    assert text.startswith("error[SX1016]: ")
    assert "needs the package torch" in text
    assert text.endswith("help: pip install torch\n")


@long_test(1)
def test_an_old_torch() -> None:
    text = said("import torch", "torch.__version__ = '2.1.2'", LINEAR)
    assert "PyTorch 2.1.2 is installed, and exporting a model needs 2.6 or newer" in text
    assert "pip install --upgrade 'torch>=2.6'" in text


@long_test(2)
@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("onnxruntime", "program(torch.rand(1, 2))"),
        ("onnx", "program.model_proto"),
        ("onnx_ir", "program.model"),
    ],
)
def test_what_looks_at_a_model(package: str, line: str) -> None:
    text = said("import torch", f"sys.modules[{package!r}] = None", LINEAR, line)
    assert f"needs the package {package}" in text
    assert f"pip install {package.replace('_', '-')}\n" in text
