"""`sardonyx hf --json`."""

from __future__ import annotations

from pathlib import Path

import pytest

from sardonyx.hf.command import main
from tests.harness.json_output import told

from .checkpoints import bert


def test_the_report_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = bert(tmp_path / "bert"), tmp_path / "out"
    assert main([str(folder), "-o", str(out), "--json"]) == 0
    found = told(capsys.readouterr().out, "hf")
    assert found["task"] == "text-classification"
    written = told((out / "sardonyx.json").read_text(encoding="utf-8"), "report")
    assert {"ok": True, **written} == found


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        ([], "SX2001", 2),
        (["--task", "text-generatoin"], "SX2002", 2),
        (["--opset", "3"], "SX1001", 2),
    ],
)
def test_what_is_wrong_as_json(
    words: list[str], code: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bert(tmp_path / "bert") if words else tmp_path / "none"
    assert main([str(folder), "-o", str(tmp_path / "out"), "--json", *words]) == status
    (diagnostic,) = told(capsys.readouterr().out, "failure")["diagnostics"]
    assert diagnostic["code"] == code
    assert diagnostic["message"]
