"""The C++ library as its users get it: installed, found by find_package, linked and run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

import sardonyx

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SARDONYX_BUILD", ROOT / "build"))


def run(*command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    if check and result.returncode != 0:
        pytest.fail(f"{command} gave {result.returncode}\n{result.stdout}{result.stderr}")
    return result


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="module")
def example(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("example")
    run("cmake", "-S", ROOT / "examples" / "cpp", "-B", build, "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}")  # fmt: skip
    run("cmake", "--build", build)
    return build / "convert"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("archive") / "model.pt2"
    module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval()
    torch.export.save(torch.export.export(module, (torch.ones(2, 4),)), path)
    return path


def test_the_example_converts_as_the_installed_command_does(
    prefix: Path, example: Path, archive: Path, tmp_path: Path
) -> None:
    run(example, archive, tmp_path / "library.onnx")
    run(prefix / "bin" / "sardonyx", "convert", archive, "-o", tmp_path / "command.onnx")
    assert (tmp_path / "library.onnx").read_bytes() == (tmp_path / "command.onnx").read_bytes()


def test_the_example_reports_an_error_across_the_library_boundary(
    example: Path, tmp_path: Path
) -> None:
    result = run(example, tmp_path / "missing.pt2", tmp_path / "out.onnx", check=False)
    assert result.returncode == 1
    assert "SX1101" in result.stderr
    assert "missing.pt2" in result.stderr
    assert not (tmp_path / "out.onnx").exists()


def test_the_example_quantizes_by_values_that_a_runtime_gives(
    example: Path, tmp_path: Path
) -> None:
    layers = [torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Conv2d(4, 2, 3)]
    source, observed = tmp_path / "m.onnx", tmp_path / "observed.onnx"
    sardonyx.export(torch.nn.Sequential(*layers).eval(), (torch.ones(1, 3, 8, 8),)).save(source)
    quantize = example.with_name("quantize")
    names = run(quantize, source, observed).stdout.split()
    session = onnxruntime.InferenceSession(observed)
    for number in range(4):
        folder = tmp_path / "samples" / str(number)
        folder.mkdir(parents=True)
        x = np.random.default_rng(number).standard_normal((1, 3, 8, 8)).astype(np.float32)
        feed = {session.get_inputs()[0].name: x}
        for name, value in zip(names, session.run(names, feed), strict=True):
            np.save(folder / f"{name}.npy", value)
    done = run(quantize, source, tmp_path / "samples", tmp_path / "q.onnx")
    assert "2 layers" in done.stdout
    assert "4 samples" in done.stdout
    inputs = {session.get_inputs()[0].name: x}
    exact, found = (
        onnxruntime.InferenceSession(path).run(None, inputs)[0]
        for path in (source, tmp_path / "q.onnx")
    )
    assert np.abs(found - exact).max() < 0.05 * np.abs(exact).max()

    (tmp_path / "samples" / "0" / f"{names[0]}.npy").unlink()
    failed = run(quantize, source, tmp_path / "samples", tmp_path / "none.onnx", check=False)
    assert failed.returncode == 1
    assert "SX1834" in failed.stderr
    assert not (tmp_path / "none.onnx").exists()


@pytest.fixture(scope="module")
def c_example(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled as C99 by the C compiler alone."""
    program = tmp_path_factory.mktemp("c") / "convert"
    library = next(prefix.glob("lib*/libsardonyx.so")).parent
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", prefix / "include",
        ROOT / "examples" / "c" / "convert.c", "-L", library, "-lsardonyx",
        f"-Wl,-rpath,{library}", "-o", program)  # fmt: skip
    return program


def test_the_c_example_converts_as_the_command_does(
    prefix: Path, c_example: Path, archive: Path, tmp_path: Path
) -> None:
    shown = run(c_example, archive, tmp_path / "c.onnx", "18").stdout
    run(prefix / "bin" / "sardonyx", "convert", archive, "-o", tmp_path / "command.onnx",
        "--opset", "18")  # fmt: skip
    assert (tmp_path / "c.onnx").read_bytes() == (tmp_path / "command.onnx").read_bytes()
    assert "nodes" in shown


@pytest.mark.parametrize(
    ("words", "code"),
    [(("missing.pt2", "out.onnx"), "SX1101"), (("x.pt2", "out.onnx", "eighteen"), "SX1005")],
)
def test_c_gets_errors_and_no_exception(
    c_example: Path, words: tuple[str, ...], code: str, tmp_path: Path
) -> None:
    result = run(c_example, *(tmp_path / word if "." in word else word for word in words),
                 check=False)  # fmt: skip
    assert result.returncode == 1
    assert code in result.stderr
    assert not (tmp_path / "out.onnx").exists()


def test_the_library_is_used_by_ctypes(
    prefix: Path, c_example: Path, archive: Path, tmp_path: Path
) -> None:
    library = next(prefix.glob("lib*/libsardonyx.so"))
    script = ROOT / "examples" / "python" / "by_ctypes.py"
    run(c_example, archive, tmp_path / "in.onnx")
    run(sys.executable, script, library, tmp_path / "in.onnx", tmp_path / "out.onnx")
    run(prefix / "bin" / "sardonyx", "optimize", tmp_path / "in.onnx", "-o", tmp_path / "b.onnx")
    assert (tmp_path / "out.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    failed = run(sys.executable, script, library, tmp_path / "none", tmp_path / "o", check=False)
    assert failed.returncode == 1
    assert "SX1101" in failed.stderr


def test_exported_symbols_are_those_that_were_agreed(prefix: Path) -> None:
    """A symbol that goes breaks who was linked before; one that comes is a promise."""
    library = next(prefix.glob("lib*/libsardonyx.so"))
    lines = run("nm", "-DC", "--defined-only", library).stdout.splitlines()
    exported = sorted({line.split(" ", 2)[2] for line in lines if " A " not in line})
    agreed = (ROOT / "tests" / "installed" / "symbols.txt").read_text(encoding="utf-8")
    assert exported == agreed.splitlines()


def test_only_the_public_interface_is_exported(prefix: Path) -> None:
    symbols = run("nm", "-DC", "--defined-only", next(prefix.glob("lib*/libsardonyx.so"))).stdout
    names = [line.split(" ", 2)[2] for line in symbols.splitlines()]
    ours = [name for name in names if "sardonyx::" in name and " for sardonyx::" not in name]
    assert any(name.startswith("sardonyx::convert(") for name in ours)
    layers = ("base", "symbolic", "program", "onnx", "aten", "passes", "proto", "pt2")
    leaked = [
        name for name in ours if name.startswith(tuple(f"sardonyx::{layer}::" for layer in layers))
    ]
    assert leaked == []


def test_nothing_of_torch_python_or_protobuf_is_linked(prefix: Path) -> None:
    for file in (prefix / "bin" / "sardonyx", next(prefix.glob("lib*/libsardonyx.so"))):
        # Names alone: the addresses that ldd prints beside them may contain "c10" as well.
        linked = [line.split()[0] for line in run("ldd", file).stdout.splitlines()]
        assert any(name.startswith("libstdc++") for name in linked)
        for foreign in ("torch", "python", "protobuf", "c10"):
            assert not [name for name in linked if foreign in name], f"{file.name} links {foreign}"
