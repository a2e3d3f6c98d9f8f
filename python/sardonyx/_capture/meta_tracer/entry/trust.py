"""Whether fake-tensor tracing is used with the installed PyTorch."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

from sardonyx._base.state import raise_interrupt
from sardonyx._torch_private.features import TRACING
from sardonyx._torch_private.state import build_of_torch

from .verified import VERIFIED


@functools.cache
def distrust() -> str:
    """Why fake-tensor tracing is off here; empty where it may run.

    It runs in the builds of PyTorch that our tests have run in. In any other build, two small
    programs are captured once by fake-tensor tracing and once by torch.export, and the captures are
    compared. The result is kept in the user's cache folder.
    """
    if TRACING.reason:
        return TRACING.reason
    build = build_of_torch()
    if build.commit in VERIFIED:
        return ""
    kept = _cache_folder() / f"quick-capture-{_digest(str(build))}.json"
    answer = _read(kept)
    if answer is None:
        answer = _asked()
        _write(kept, answer, str(build))
    return answer


def _asked() -> str:
    try:
        from .self_check import disagreement

        return disagreement()
    except Exception as error:  # of a release that nobody has seen
        raise_interrupt(error)
        return f"{type(error).__name__}: {error}".splitlines()[0]


def _cache_folder() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        base = os.environ.get("XDG_CACHE_HOME")
    return Path(base or Path("~/.cache").expanduser()) / "sardonyx"


def _digest(build: str) -> str:
    """What changes where PyTorch, or our own code that meets it, does."""
    found = hashlib.sha256(build.encode())
    for file in _sources():
        found.update(file.read_bytes())
    return found.hexdigest()[:16]


def _sources() -> list[Path]:
    """The modules that meet PyTorch as it traces."""
    tracer = Path(__file__).parents[1]
    private = tracer.parents[1] / "_torch_private"
    return sorted([*tracer.rglob("*.py"), *private.rglob("*.py")])


def _read(file: Path) -> str | None:
    try:
        answer = json.loads(file.read_text(encoding="utf-8"))["disagreement"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return answer if isinstance(answer, str) else None


def _write(file: Path, answer: str, build: str) -> None:
    """In one step, so that another process reads all or nothing; where the folder cannot be
    written, the answer holds for this process."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=file.parent, delete=False, encoding="utf-8"
        ) as written:
            json.dump({"torch": build, "disagreement": answer}, written)
        Path(written.name).replace(file)
    except OSError:
        return
