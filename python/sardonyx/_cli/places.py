"""Where an installation keeps what is no Python."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def native_command() -> Path | None:
    """The native program: what SARDONYX_COMMAND names, or the one that came with this package."""
    named = os.environ.get("SARDONYX_COMMAND")
    # An installation into a folder (pip install --target) has the scripts beside the package; a
    # build folder links the package, whose folder is then not where it was found.
    found_at = Path(__file__).absolute().parent.parent
    candidates = [
        *([Path(named)] if named else []),
        Path(sysconfig.get_path("scripts")) / "sardonyx",
        found_at.parent / "sardonyx.scripts" / "sardonyx",  # where auditwheel moves programs
        found_at.parent / "bin" / "sardonyx",
        found_at.parent.parent / "bin" / "sardonyx",
    ]
    return next((path for path in candidates if _is_program(path)), None)


def _is_program(path: Path) -> bool:
    if not (path.is_file() and os.access(path, os.X_OK)):
        return False
    with path.open("rb") as file:
        return file.read(2) != b"#!"  # a script would come back to here


def cmake_dir() -> Path | None:
    """The folder for CMAKE_PREFIX_PATH's sake: `sardonyx_DIR`, where find_package looks."""
    folder = _PACKAGE / "lib" / "cmake" / "sardonyx"
    return folder if (folder / "sardonyx-config.cmake").is_file() else None
