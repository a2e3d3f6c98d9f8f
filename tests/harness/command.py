"""The command line, as the build made it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def command_path() -> Path:
    """In the build folder of SARDONYX_BUILD, else in ./build, else on the PATH."""
    build = Path(os.environ.get("SARDONYX_BUILD", "build"))
    built = build / "bin" / "sardonyx"
    found = shutil.which("sardonyx")
    assert built.exists() or found, f"no command at {built} and none on the PATH"
    return built if built.exists() else Path(str(found))


def run_command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(command_path()), *map(str, words)],
        capture_output=True,
        text=True,
        errors="replace",  # names in damaged files
        check=False,
        timeout=120,
    )
