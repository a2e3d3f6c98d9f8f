"""Which part of a long list of cases runs this time: another one for each commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def rotating(every: int) -> int:
    """An offset below `every`, of SARDONYX_ROTATION or of the commit; 0 outside of git."""
    given = os.environ.get("SARDONYX_ROTATION")
    if given is None:
        command = ["git", "rev-parse", "HEAD"]
        found = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
        given = str(int(found.stdout.strip() or "0", 16)) if found.returncode == 0 else "0"
    return int(given) % every
