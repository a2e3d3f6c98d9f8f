"""The examples of the pages for users, each page's run one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.harness.command import run_command
from tests.harness.pages import BLOCK, run_page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
OTHERS = ("custom-operators", "optimizing", "diagnostic_examples", "adding-")  # have own tests
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
WITH_CODE = [
    page
    for page in PAGES
    if not page.name.startswith(OTHERS) and BLOCK.search(page.read_text(encoding="utf-8"))
]
# Packages that `make test` has, but an environment of fewer packages has not.
NEEDS = {
    "genai": "onnxruntime_genai",
    "openvino": "openvino",
    "transducers": "onnxruntime_genai",
}


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.filterwarnings("ignore")
def test_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.stem in NEEDS:
        pytest.importorskip(NEEDS[page.stem])
    monkeypatch.chdir(tmp_path)
    assert run_page(page, tmp_path)


def test_tutorials_and_guides_have_code() -> None:
    for folder in ("tutorials", "how-to", "migration"):
        for page in (DOCS / folder).glob("*.md"):
            assert "```" in page.read_text(encoding="utf-8"), page


def test_commands_and_options_that_pages_name_are_there() -> None:
    known = re.findall(r"^  (\w+)", run_command("--help").stdout, re.MULTILINE)
    helps = {name: run_command(name, "--help").stdout for name in known}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for command, rest in re.findall(r"^ *`?sardonyx ([a-z]+)\b([^`|\n#]*)", text, re.MULTILINE):
            assert command in known, f"{page} names sardonyx {command}"
            for option in re.findall(r"(?<!\S)--[a-z-]+", rest):
                assert option in helps[command], f"{page}: sardonyx {command} {option}"
