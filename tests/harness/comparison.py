"""When an answer counts as eager PyTorch's: the package's own comparison and table, which
test_harness.py holds to it that they can fail."""

from __future__ import annotations

import torch

from sardonyx._compare import tensors
from sardonyx._compare.tolerances import EXACT, Tolerance


def difference(
    actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance | None = None
) -> str | None:
    """What differs, or None: dtype, shape, then values; whole numbers must be equal.

    A complex result is expected as a real one with a trailing dimension of two.
    """
    is_exact = not (expected.is_floating_point() or expected.is_complex())
    return tensors.difference(actual, expected, EXACT if is_exact else tolerance)
