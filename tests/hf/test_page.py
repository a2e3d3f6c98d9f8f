"""The examples of docs/huggingface.md, run in a folder with a checkpoint."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.harness.command import run_command

from .checkpoints import llama

PAGE = Path(__file__).resolve().parents[2] / "docs" / "huggingface.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


@pytest.fixture(autouse=True)
def _beside_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SARDONYX_PYTHON", sys.executable)
    llama(tmp_path / "checkpoint")


def blocks(language: str) -> list[str]:
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [code for kind, code in found if kind == language]


def test_commands() -> None:
    (block,) = blocks("sh")
    for line in block.splitlines():
        _, *words = shlex.split(line)
        done = run_command(*words)
        assert done.returncode == 0, done.stderr
        assert (Path(words[3]) / "model.onnx").is_file()


def test_python() -> None:
    (block,) = blocks("python")
    known: dict[str, object] = {}
    exec(block, known)
    assert known["report"].verified["equal"] == 40
    assert known["tokens"].shape == (1, 11)


def test_without_python_the_command_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SARDONYX_PYTHON", "no-such-python")
    done = run_command("hf", "checkpoint", "-o", "out")
    assert done.returncode == 1
    assert "SX2006" in done.stderr
    assert "torch and transformers" in done.stderr
