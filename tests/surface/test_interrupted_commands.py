"""Ctrl-C ends a command that is written in Python by its signal, without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_RUN = """
import signal, sys
signal.signal(signal.SIGINT, {handler})
from sardonyx import __main__
__main__.IN_PYTHON["slow"] = "slow"
sys.argv = ["sardonyx", "slow"]
sys.exit(__main__.main())
"""
_AT_IMPORT = "import signal\nsignal.raise_signal(signal.SIGINT)\ndef main(words): return 0\n"
_AT_WORK = "import signal\ndef main(words): signal.raise_signal(signal.SIGINT)\n"


def run(folder: Path, command: str, handler: str) -> subprocess.CompletedProcess[str]:
    (folder / "slow.py").write_text(command)
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", _RUN.format(handler=handler)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("command", "told"), [(_AT_IMPORT, ""), (_AT_WORK, "interrupted")])
def test_an_interrupt_ends_the_command(tmp_path: Path, command: str, told: str) -> None:
    done = run(tmp_path, command, "signal.default_int_handler")
    assert done.returncode == -signal.SIGINT
    assert done.stderr.startswith(told)
    assert "Traceback" not in done.stderr


def test_ignored_interrupts_stay_ignored(tmp_path: Path) -> None:
    assert run(tmp_path, _AT_IMPORT, "signal.SIG_IGN").returncode == 0
