"""Diagnostics as SARIF, which editors show beside the code."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from sardonyx._base.errors import Diagnostic


def write_sarif(path: str | os.PathLike[str], diagnostics: Iterable[Diagnostic]) -> None:
    """Writes a SARIF 2.1.0 log of one run."""
    from sardonyx import _native

    ended = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = _native.to_sarif(list(diagnostics), command_line="", end_time_utc=ended)
    Path(path).write_text(text, encoding="utf-8")
