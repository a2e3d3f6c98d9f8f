"""Runs small models on WebGPU, in each precision, and the zoo with its dynamic dimensions:
`make webgpu ARGS="llama bert"`, `ARGS=zoo`, `ARGS=zoo/bert`.

Exits with 1 where an answer is wrong, or where anything but sizes of tensors runs on the CPU: of
the zoo, in models that run on WebGPU as a whole.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import zoo
from .checking import MOST, PRECISIONS, Outcome, missing, outcome
from .models import MODELS


def outcomes(names: list[str], folder: Path) -> Iterator[tuple[str, str, Outcome]]:
    """Each with its name and precision."""
    for name in names:
        if name in MODELS:
            for precision in PRECISIONS:
                yield name, precision, outcome(name, folder, precision)
        else:
            wanted = zoo.NAMES if name == "zoo" else (name.removeprefix("zoo/"),)
            for each in wanted:
                yield f"zoo/{each}", "fp32", zoo.zoo_outcome(each, folder)


def main(names: list[str]) -> int:
    if reason := missing():
        print(f"nothing was run: {reason}", file=sys.stderr)
        return 1
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, precision, found in outcomes(names or [*MODELS, "zoo"], Path(folder)):
            wrong += (found.difference or 0) > MOST[precision] or bool(found.strays)
            error = "not run, without float16" if found.difference is None else ""
            error = error or f"largest difference {found.difference:.1e}"
            off = ", ".join(f"{op} {n}" for op, n in sorted(found.off.items()))
            print(
                f"{name}, {precision}: {found.webgpu} nodes on WebGPU, {found.copies} copies, "
                f"{error}; elsewhere: {off or 'nothing'}"
                + (f"; of these to be there: {found.strays}" if found.strays else ""),
                flush=True,
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
