"""docs/data/diagnostic_examples.md: every code has a section, and the examples cause their code."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import sardonyx
from tests.harness.command import run_command
from tests.harness.pages import run_block

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = (ROOT / "docs/data/diagnostic_examples.md").read_text(encoding="utf-8")
SECTIONS = dict(
    re.findall(r"^## (SX\d{4})\n\n(.*?)(?=^## |\Z)", EXAMPLES, re.DOTALL | re.MULTILINE)
)
CODES = re.findall(
    r"^\| (SX\d{4}) \|", (ROOT / "docs/diagnostics.md").read_text(encoding="utf-8"), re.MULTILINE
)
FENCED = r"^```{}\n(.*?)^```"


def with_block(language: str) -> list[tuple[str, str]]:
    fenced = re.compile(FENCED.format(language), re.DOTALL | re.MULTILINE)
    return [(code, block) for code in CODES for block in fenced.findall(SECTIONS.get(code, ""))]


def test_every_code_has_a_section() -> None:
    assert list(SECTIONS) == CODES


@pytest.mark.parametrize(("code", "block"), with_block("python"))
def test_python(code: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run_block(block, tmp_path / "block.py", names)
            found = names["program"].notes
        except sardonyx.OnnxExporterError as error:
            found = error.diagnostics
    assert code in {each.code for each in found}


@pytest.mark.parametrize(("code", "block"), with_block("sh"))
def test_commands(code: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("not-a-zip.pt2").write_text("text")
    for line in block.splitlines():
        done = run_command(*line.split()[1:])
        assert done.returncode != 0
        assert code in done.stderr
