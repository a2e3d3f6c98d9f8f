"""Element types that a traced program's results have in PyTorch, where they are not those of the
operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import sardonyx

BYTES = torch.randint(-9, 9, (3, 4), dtype=torch.int8)


class Of(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.einsum("ij->i", x),
        lambda x: torch.einsum("ij->ji", x),
        lambda x: torch.einsum("ij,kj->ik", x, x),
        lambda x: torch.einsum("ij,kl->i", x, x),
    ],
    ids=["sums of one", "no sum", "a product", "sums of two"],
)
@pytest.mark.filterwarnings("ignore")
def test_products_of_integers(function: Callable[..., Any]) -> None:
    program = sardonyx.export(Of(function), (BYTES,), capture="trace")
    torch.testing.assert_close(program(BYTES)[0], function(BYTES))
