"""Scripted programs drawn at random, against Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from .drawn import judged

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.mark.parametrize("seed", range(12))
def test_a_drawn_program_is_equal_or_refused(seed: int, tmp_path: Path) -> None:
    assert judged(seed, tmp_path).startswith(("equal", "refused"))
