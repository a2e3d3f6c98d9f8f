"""What tools/ generates for the emitter is committed: it must be what would be generated now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.mark.parametrize(
    "generator",
    [
        "generate_emitter.py",
        "generate_kernels.py",
        "generate_microsoft.py",
        "generate_figures.py",
        "generate_op_stub.py",
        "generate_python_commands.py",
        "generate_rules.py",
    ],
)
def test_generated_files_are_fresh(generator: str) -> None:
    run = subprocess.run(
        [sys.executable, str(TOOLS / generator), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_check_complains_of_a_stale_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import generate_emitter

    monkeypatch.setattr(generate_emitter, "FOLDER", tmp_path)
    assert generate_emitter.main(["--check"]) == 1
    assert generate_emitter.main([]) == 0
    assert generate_emitter.main(["--check"]) == 0
    (tmp_path / "op.h").write_text("")
    assert generate_emitter.main(["--check"]) == 1
