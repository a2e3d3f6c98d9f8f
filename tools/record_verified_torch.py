"""Adds the installed PyTorch to those in which fake-tensor tracing agrees with torch.export.

Run it in an environment in which `pytest tests/capture tests/control_flow` passes and the sweep of
`python -m tests.capture` has no difference that is not explained:

    PYTHONPATH=build/python python tools/record_verified_torch.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sardonyx._capture.meta_tracer.entry.self_check import disagreement
from sardonyx._capture.meta_tracer.entry.verified import VERIFIED
from sardonyx._torch_private.state import build_of_torch

FILE = (
    Path(__file__).resolve().parents[1] / "python/sardonyx/_capture/meta_tracer/entry/verified.py"
)


def main() -> int:
    """1 where small programs already differ."""
    if said := disagreement():
        print(f"fake-tensor tracing and torch.export differ: {said}", file=sys.stderr)
        return 1
    build = build_of_torch()
    release = re.sub(r"\+.*", "", build.version)
    rows = sorted({**VERIFIED, build.commit: release}.items(), key=lambda row: row[1])
    lines = "".join(f'    "{commit}": "{version}",\n' for commit, version in rows)
    text = FILE.read_text(encoding="utf-8")
    start = text.index("VERIFIED: dict[str, str] = {")
    FILE.write_text(text[:start] + f"VERIFIED: dict[str, str] = {{\n{lines}}}\n", encoding="utf-8")
    print(f"{release}, built of {build.commit}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
