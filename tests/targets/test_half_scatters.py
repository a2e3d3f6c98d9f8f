"""Scatters that combine elements in half precision: a test a rule."""

from __future__ import annotations

import numpy as np
import pytest

from tests.targets import alone

INDICES = np.array([0, 0, 1])
HALF = np.array([1, 2, 3], np.float16)
REFUSED = "MLFloat16 data type is not supported"


def test_half_scatter_of_elements() -> None:
    with pytest.raises(Exception, match=REFUSED):
        alone.run("ScatterElements", HALF, INDICES, HALF, reduction="add")


def test_half_scatter_of_slices() -> None:
    with pytest.raises(Exception, match=REFUSED):
        alone.run("ScatterND", HALF, INDICES[:, None], HALF, reduction="add")
