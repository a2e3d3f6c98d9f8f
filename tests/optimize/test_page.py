"""The examples of docs/optimizing.md, run one after the other."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import onnx
import pytest

import sardonyx
from tests.harness.command import run_command
from tests.optimize.models import layered

PAGE = Path(__file__).resolve().parents[2] / "docs" / "optimizing.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


@pytest.fixture(autouse=True)
def _beside_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(layered(), "model.onnx")


def blocks(language: str) -> list[str]:
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [code for kind, code in found if kind == language]


def test_commands() -> None:
    for block in blocks("sh"):
        onnx.save(layered(), "model.onnx")
        for line in block.splitlines():
            program, *words = shlex.split(line)
            assert program == "sardonyx"
            done = run_command(*words)
            assert done.returncode == 0, (line, done.stderr)
    assert Path("model.html").exists()


def test_options_are_those_that_there_are() -> None:
    shown = run_command("optimize", "--help").stdout
    named = re.findall(r"^\| `(--[\w-]+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(named) > 5
    assert all(option in shown for option in named)


def test_python() -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for number, code in enumerate(blocks("python")):
        exec(compile(code, f"{PAGE.name}, block {number}", "exec"), names)
    assert Path("smaller.onnx").exists()
    assert names["program"].node_count


def test_cpp_compiles(tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no compiler")
    [code] = blocks("cpp")
    include, _, body = code.partition("\n\n")
    source = tmp_path / "page.cpp"
    source.write_text(f"{include}\nint main() {{\n{body}return done.nodes_after == 0;\n}}\n")
    headers = PAGE.parents[1] / "include"
    words = [compiler, "-std=c++20", "-fsyntax-only", f"-I{headers}", str(source)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_root_has_its_names() -> None:
    assert {"optimize", "Optimized", "OptimizationReport", "Precision"} <= set(sardonyx.__all__)
