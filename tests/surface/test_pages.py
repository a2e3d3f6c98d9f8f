"""The examples of the pages for users, each page's run one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.harness.command import run_command

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/start.md", "docs/migration.md", "docs/how-to/dynamic-sizes.md",
         "docs/how-to/hugging-face.md", "docs/how-to/mismatch.md"]  # fmt: skip
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_blocks(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks
    names: dict[str, Any] = {"__name__": "page"}
    for number, code in enumerate(blocks):
        exec(compile(code, f"{page}, block {number}", "exec"), names)


def test_commands_that_pages_name_are_there() -> None:
    known = re.findall(r"^  (\w+)", run_command("--help").stdout, re.MULTILINE)
    for page in [*PAGES, "docs/json.md", "docs/how-to/cpp.md", "docs/how-to/ci.md"]:
        text = (ROOT / page).read_text(encoding="utf-8")
        for command in re.findall(r"^ *(?:`)?sardonyx ([a-z]+)\b", text, re.MULTILINE):
            assert command in known, f"{page} names sardonyx {command}"
