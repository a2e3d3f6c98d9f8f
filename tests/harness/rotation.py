"""Which part of a long list of cases runs this time: another one for each commit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest

Case = TypeVar("Case")


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


_LONG_EVERY = int(os.environ.get("SARDONYX_LONG_EVERY", "1"))


def long_test(turn: int) -> pytest.MarkDecorator:
    """Marks a test of some seconds: SARDONYX_LONG_EVERY=4 runs those of one turn in four."""
    is_next = turn % _LONG_EVERY == rotating(_LONG_EVERY)
    return pytest.mark.skipif(not is_next, reason="a long test that runs for other commits")


def taking_turns(cases: Sequence[Case]) -> Sequence[Case]:
    """Those of `cases`, each of some seconds, whose turn it is: one in SARDONYX_LONG_EVERY."""
    return cases[rotating(_LONG_EVERY) :: _LONG_EVERY]
