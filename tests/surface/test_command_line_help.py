"""What `--help` says, for people."""

from __future__ import annotations

import pytest

from sardonyx import _native
from tests.harness.command import run_command


@pytest.mark.parametrize("command", ["convert", "optimize", "inspect"])
def test_help_lists_words_that_can_be_typed(command: str) -> None:
    shown = run_command(command, "--help").stdout
    assert "->" not in shown
    assert " ," not in shown
    if command != "inspect":
        for name in _native.target_names():
            assert name in shown


def test_an_unknown_runtime_is_a_usage_error() -> None:
    ended = run_command("convert", "in.pt2", "-o", "out.onnx", "--runtime", "toaster")
    assert ended.returncode == 2
    assert "toaster" in ended.stderr
