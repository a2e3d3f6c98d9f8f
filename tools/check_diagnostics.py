"""Checks that docs/diagnostics.md lists every diagnostic code of the sources, each once, and that
each has an example in docs/data/diagnostic_examples.md, which becomes its page of the site."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

COMMENT = re.compile(r"(//|#).*")
USED = re.compile(r'"(SX\d{4})"')
EXAMPLE = re.compile(r"^## (SX\d{4})$", re.MULTILINE)
LISTED = re.compile(r"^\|\s*`?(SX\d{4})`?\s*\|", re.MULTILINE)


def check(root: Path) -> list[str]:
    """Every complaint about the checkout at `root`."""
    page = root / "docs" / "diagnostics.md"
    listed = Counter(LISTED.findall(page.read_text(encoding="utf-8")))
    complaints = [f"{page}: {code} is listed {n} times" for code, n in listed.items() if n > 1]
    examples = root / "docs" / "data" / "diagnostic_examples.md"
    if examples.is_file():
        shown = set(EXAMPLE.findall(examples.read_text(encoding="utf-8")))
        complaints += [f"{examples}: no section on {code}" for code in sorted(set(listed) - shown)]
    sources = [*(root / "src").rglob("*.[ch]*"), *(root / "python").rglob("*.[cp][py]*")]
    for file in sorted(sources):
        if file.suffix != ".pyc" and file.is_file() and not file.name.endswith("_test.cpp"):
            codes = set(USED.findall(COMMENT.sub("", file.read_text(encoding="utf-8"))))
            complaints += [
                f"{file}: {code} is not in {page.name}"
                for code in sorted(codes)
                if not listed[code]
            ]
    return complaints


def main() -> int:
    complaints = check(Path(__file__).resolve().parent.parent)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"diagnostic codes: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
