"""Scripted programs drawn at random, against Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from .drawn import judged

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


# 3299: a branch that the sum of a constant decides, which ONNX Runtime breaks as it takes it in.
@pytest.mark.parametrize("seed", [*range(12), 3299])
def test_a_drawn_program_is_equal_or_refused(seed: int, tmp_path: Path) -> None:
    assert judged(seed, tmp_path).startswith(("equal", "refused"))
