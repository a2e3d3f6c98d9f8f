"""What ONNX Runtime rewrites wrongly when it loads a model must not be emitted in that form."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from tests.harness import assert_exports


class PadThenPool(torch.nn.Module):
    """Max pooling pads by -inf; a pad by 0 before it is another thing for negative numbers."""

    def forward(self, x):
        padded = functional.pad(x, (1, 1, 1, 1))
        return (
            functional.max_pool2d(padded, 3, 2),
            functional.avg_pool2d(padded, 3, 2, count_include_pad=False),
            functional.max_pool2d(padded, 2, return_indices=True),
        )


@pytest.mark.parametrize("opset", [13, 17, 18, 20, 26])
def test_a_pad_stays_apart_from_the_pool_behind_it(opset: int) -> None:
    assert_exports(PadThenPool(), (-torch.rand(2, 3, 8, 9) - 1,), opset_version=opset)
