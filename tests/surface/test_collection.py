"""Python's garbage collector during a capture."""

from __future__ import annotations

import gc

import torch

import sardonyx

COUNTS: list[int] = []


class Counting(torch.nn.Module):
    """Notes how many objects the collector leaves out while it runs."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        COUNTS.append(gc.get_freeze_count())
        return x + 1


def test_objects_from_before_a_capture_are_not_gone_through() -> None:
    assert gc.get_freeze_count() == 0
    threshold = gc.get_threshold()
    sardonyx.export(Counting(), (torch.ones(2),))
    assert COUNTS[0] > 0
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == threshold


def test_objects_that_a_user_froze_stay_so() -> None:
    gc.freeze()
    try:
        sardonyx.export(Counting(), (torch.ones(2),))
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
