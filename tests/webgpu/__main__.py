"""Runs small models on WebGPU: `make webgpu`. Exits with 1 where an answer is wrong."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from .checking import MOST, missing, outcome
from .models import MODELS


def main(names: list[str]) -> int:
    if reason := missing():
        print(f"nothing was run: {reason}", file=sys.stderr)
        return 1
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names or MODELS:
            found = outcome(name, Path(folder))
            wrong += found.difference > MOST
            off = ", ".join(f"{op} {n}" for op, n in sorted(found.off.items()))
            print(
                f"{name}: {found.webgpu} nodes on WebGPU, {found.copies} copies, largest "
                f"difference {found.difference:.1e}; elsewhere: {off or 'nothing'}"
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
