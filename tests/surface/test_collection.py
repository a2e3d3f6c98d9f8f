"""Python's garbage collector during a capture."""

from __future__ import annotations

import gc

import torch

import sardonyx

THRESHOLDS: list[tuple[int, ...]] = []


class Counting(torch.nn.Module):
    """Notes how often the collector runs meanwhile."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        THRESHOLDS.append(gc.get_threshold())
        return x + 1


def test_a_capture_has_few_collections() -> None:
    before = gc.get_threshold()
    THRESHOLDS.clear()
    sardonyx.export(Counting(), (torch.ones(2),))
    assert all(a > b for a, b in zip(THRESHOLDS[0][::2], before[::2], strict=True))
    assert gc.get_threshold() == before


def test_a_collector_that_never_runs_is_left_so() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        THRESHOLDS.clear()
        sardonyx.export(Counting(), (torch.ones(2),))
        assert THRESHOLDS[0][0] == 0 == gc.get_threshold()[0]
    finally:
        gc.set_threshold(*before)
