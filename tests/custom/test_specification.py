"""docs/specification.md: sorted, and every test it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (.+?) \| (.*?) \| (.+?) \|$")
TEST = re.compile(r"`(tests/[\w/]+\.py)?(?:::(\w+))?`")


def rows() -> list[tuple[str, str]]:
    lines = (ROOT / "docs" / "specification.md").read_text(encoding="utf-8").splitlines()
    matches = [match for line in lines if (match := ROW.match(line)) is not None]
    return [(match[1], match[3]) for match in matches if match[1] not in ("name", "---")]


def test_names_are_sorted_and_stand_once() -> None:
    names = [name.lower().replace("`", "") for name, _ in rows()]
    assert len(names) > 50
    assert names == sorted(set(names))


def test_every_test_is_there() -> None:
    for name, cell in rows():
        tests = TEST.findall(cell)
        assert tests, f"{name} names no test"
        file = ""
        for path, function in tests:  # `::another` is of the file before it
            file = path or file
            text = (ROOT / file).read_text(encoding="utf-8")
            assert not function or f"def {function}(" in text, f"{name}: {file} has no {function}"
