"""Translators in a shared library, through the C interface of sardonyx/plugin.h."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
from torch import nn

import sardonyx

from .test_translators import Scaled

ROOT = Path(__file__).resolve().parents[2]
X = torch.randn(2, 3)


@torch.library.custom_op("custom_tests::careless", mutates_args=())
def careless(x: torch.Tensor, how: str) -> torch.Tensor:
    return x.relu()


@careless.register_fake
def _(x: torch.Tensor, how: str) -> torch.Tensor:
    return torch.empty_like(x)


def build(folder: Path, *flags: str) -> Path:
    library = folder / "plugin.so"
    source = ROOT / "tests" / "custom" / "plugin.c"
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror",
         "-shared", "-fPIC", f"-I{ROOT / 'include'}", *flags, str(source), "-o", str(library)],
        check=True,
    )  # fmt: skip
    return library


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("plugin"))


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    program = Path(os.environ["SARDONYX_BUILD"]) / "bin" / "sardonyx"
    return subprocess.run(
        [str(program), "convert", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_on_the_command_line(plugin: Path, tmp_path: Path) -> None:
    torch.export.save(torch.export.export(Scaled(), (X,)), tmp_path / "m.pt2")
    source, target = tmp_path / "m.pt2", tmp_path / "m.onnx"
    refused = command(source, "-o", target)
    assert refused.returncode != 0
    assert "SX1300" in refused.stderr
    assert "--plugin" in refused.stderr
    done = command(source, "-o", target, "--plugin", plugin)
    assert done.returncode == 0, done.stderr
    import onnxruntime

    session = onnxruntime.InferenceSession(str(target), providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {session.get_inputs()[0].name: X.numpy()})
    torch.testing.assert_close(torch.from_numpy(result), Scaled()(X))


def test_every_kind_of_attribute(plugin: Path) -> None:
    class Halves(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return torch.ops.custom_tests.halves(x, "text", [1, 2])

    program = sardonyx.export(Halves(), (X,), plugins=[plugin])
    (node,) = program.model_proto.graph.node
    assert (node.domain, node.op_type, list(node.input)) == ("my.domain", "Halves", ["", "x"])
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert attributes == {
        "rank": 2, "columns": 3, "opset": 20, "half": 0.5, "names": b"text",
        "op": b"custom_tests::halves", "sizes": [1, 2], "numbers": [0.5, 1.5],
    }  # fmt: skip
    assert {e.domain: e.version for e in program.model_proto.opset_import}["my.domain"] == 3


def test_a_refusal_is_told_as_every_other(plugin: Path) -> None:
    with pytest.raises(sardonyx.ConversionError) as failure:
        sardonyx.export(Scaled(), (X.double(),), plugins=[plugin])
    found = failure.value.diagnostics[0]
    assert (found.code, found.op) == ("SX1301", "custom_tests::scaled")
    assert found.message == "scaled takes float32 only"
    assert found.help == "cast the tensor"
    assert found.file.endswith("test_translators.py")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("argument", "no_such"),
        ("operator", "NoSuch"),
        ("inputs", "needs its input"),
        ("unfinished", "has no output 0"),
        ("result", "has no output 7"),
        ("bytes", "has 1 bytes"),
        ("name", "gave NULL for a name"),
        ("dims", "a negative rank"),
        ("sizes", "has 4 bytes"),
        ("outputs", "has 18446744073709551615 outputs"),
        ("no outputs", "Relu gives no 0 outputs"),
        ("text", "no_such"),
        ("nothing", "gives no output"),
    ],
)
def test_mistakes_of_a_plugin(plugin: Path, how: str, message: str) -> None:
    class Careless(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.custom_tests.careless(x, how)

    with pytest.raises(sardonyx.OnnxExporterError, match=message):
        sardonyx.export(Careless(), (X,), plugins=[plugin])


def test_libraries_that_are_no_plugins(tmp_path: Path) -> None:
    empty = tmp_path / "empty.so"
    empty.write_bytes(b"")
    without = tmp_path / "without.so"
    source = tmp_path / "nothing.c"
    source.write_text("int nothing;\n")
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(without)], check=True)
    for library, reason in (
        (empty, "cannot be used"),
        (without, "exports no sardonyx_plugin"),
        (build(tmp_path, "-DUNWILLING"), "returned 42"),
        (tmp_path / "missing.so", "cannot be used"),
    ):
        with pytest.raises(sardonyx.OnnxExporterError, match=reason) as failure:
            sardonyx.export(nn.ReLU(), (X,), plugins=[library])
        assert failure.value.diagnostics[0].code == "SX1009"
