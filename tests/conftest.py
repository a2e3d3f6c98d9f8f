"""What every test starts from."""

from __future__ import annotations

import random
import sys

import pytest


@pytest.fixture(autouse=True)
def _same_data_in_every_run() -> None:
    """Seeds the generators of random numbers: what a test draws is the same whichever ran before
    it. New data is what `python -m tests.hunt` is for."""
    random.seed(0)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)
