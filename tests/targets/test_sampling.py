"""Images read at places and put together from patches in ONNX Runtime alone: a test a rule."""

from __future__ import annotations

import numpy as np
import pytest

from tests.targets import alone

MISSING = "NOT_IMPLEMENTED"


@pytest.mark.parametrize("opset", [16, 19])
def test_grid_sample_of_doubles(opset: int) -> None:
    with pytest.raises(Exception, match=MISSING):
        alone.run("GridSample", np.ones((1, 1, 2, 2)), np.zeros((1, 1, 1, 2)), opset=opset)


def test_patches_of_doubles() -> None:
    with pytest.raises(Exception, match=MISSING):
        alone.run("Col2Im", np.ones((1, 4, 1)), np.array([2, 2]), np.array([2, 2]))
