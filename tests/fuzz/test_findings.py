"""What `make fuzz` found ends in an answer or a diagnostic now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.command import run_command

FINDINGS = sorted((Path(__file__).parent / "findings").glob("*/*"))


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_findings_stay_mended(finding: Path, tmp_path: Path) -> None:
    command = "optimize" if finding.parent.name == "optimize" else "inspect"
    words = ["-o", tmp_path / "out.onnx"] if command == "optimize" else []
    done = run_command(command, finding, *words)
    assert done.returncode in (0, 1), done.stderr
    assert done.returncode == 0 or "error[SX" in done.stderr
