"""Code blocks of documentation pages, run one after the other as a reader would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def run_page(page: Path, folder: Path) -> int:
    """Runs the Python blocks of a page in one namespace; returns how many there were."""
    names: dict[str, Any] = {"__name__": "page"}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    for number, code in enumerate(blocks):
        run_block(code, folder / f"{page.stem.replace('-', '_')}_{number}.py", names)
    return len(blocks)


def run_block(code: str, file: Path, names: dict[str, Any]) -> None:
    """From a file, since torch.jit.script reads the source of what it compiles."""
    file.write_text(code, encoding="utf-8")
    exec(compile(code, str(file), "exec"), names)
