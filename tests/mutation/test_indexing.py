"""Indexing of every kind reads and writes what eager PyTorch does."""

from __future__ import annotations

import pytest

from .indexing import adds, reads, writes
from .programs import Program
from .test_programs import check


@pytest.mark.parametrize("program", [*reads(), *writes(), *adds()], ids=lambda each: each.name)
def test_index(program: Program) -> None:
    check(program)
