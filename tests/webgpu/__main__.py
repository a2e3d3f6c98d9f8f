"""Runs small models on WebGPU, in each precision: `make webgpu ARGS="llama bert"`.

Exits with 1 where an answer is wrong, or where anything but sizes of tensors runs on the CPU.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product
from pathlib import Path

from .checking import MOST, PRECISIONS, missing, outcome
from .models import MODELS


def main(names: list[str]) -> int:
    if reason := missing():
        print(f"nothing was run: {reason}", file=sys.stderr)
        return 1
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, precision in product(names or MODELS, PRECISIONS):
            found = outcome(name, Path(folder), precision)
            wrong += (found.difference or 0) > MOST[precision] or bool(found.strays)
            error = "not run, without float16" if found.difference is None else ""
            error = error or f"largest difference {found.difference:.1e}"
            off = ", ".join(f"{op} {n}" for op, n in sorted(found.off.items()))
            print(
                f"{name}, {precision}: {found.webgpu} nodes on WebGPU, {found.copies} copies, "
                f"{error}; elsewhere: {off or 'nothing'}"
                + (f"; of these to be there: {found.strays}" if found.strays else "")
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
