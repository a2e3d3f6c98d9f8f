"""The pages that walk through a commit show what stands in the files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"<!-- in: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
PAGES = sorted((ROOT / "docs").glob("adding-*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_shows_what_is_there(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    for file, code in blocks:
        assert code in (ROOT / file).read_text(encoding="utf-8"), f"{file} has no\n{code}"
