"""Checks that git tracks no build product, no cache and no large file, and no long source."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LARGEST = 500_000  # bytes
LONGEST = 600  # lines of a source that somebody writes
WRITTEN = re.compile(r"\.(py|cpp|h|sh|cmake)$")
GENERATED = "/gen/"
PRODUCT = re.compile(
    r"(^|/)(build[^/]*|dist|\.venv|__pycache__|CMakeFiles|_deps|\.[a-z]+_cache|[^/]+\.egg-info)/"
    r"|(^|/)(CMakeCache\.txt|build\.ninja|compile_commands\.json)$"
    r"|\.(so|o|a|gch|pyc|whl|onnx|onnx\.data|pt2|pt|pth|safetensors)$"
)


def tracked(root: Path) -> list[str]:
    """The files git tracks, and those about to be."""
    output = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z"], check=True, capture_output=True, text=True
    ).stdout
    return [name for name in output.split("\0") if name]


def check(root: Path) -> list[str]:
    """Every complaint about the checkout at `root`."""
    complaints = []
    for name in tracked(root):
        if PRODUCT.search(name):
            complaints.append(f"{name}: looks like a build product and is tracked")
        file = root / name
        if file.is_file() and not file.is_symlink() and file.stat().st_size > LARGEST:
            complaints.append(f"{name}: {file.stat().st_size} bytes, above {LARGEST}")
        if WRITTEN.search(name) and GENERATED not in name and file.is_file():
            lines = file.read_bytes().count(b"\n")
            if lines > LONGEST:
                complaints.append(f"{name}: {lines} lines, above {LONGEST}: split it by subject")
    return complaints


def main() -> int:
    complaints = check(Path(__file__).resolve().parent.parent)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"tracked files: {len(complaints)} that should not be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
