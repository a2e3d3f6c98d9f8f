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


WHOLE = torch.tensor([[0, 3, 0, 1], [0, 0, 2, 200]], dtype=torch.uint8)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.any(0), x.all(1), x.any()),
        lambda x: torch.square(x > 1),
        lambda x: torch.outer(x[0], x[0] * 0.5),
        lambda x: torch.float_power(x, 2),
        lambda x: torch.copysign(x, x - 1),
        lambda x: torch.logsumexp(x.long(), 0),
        lambda x: (x.sum_to_size(1, 4), x.sum_to_size(2, 4)),
        lambda x: torch.nn.functional.margin_ranking_loss(x, x, x, 0.5, reduction="none"),
        lambda x: torch.full((2, 3), 2.7, out=torch.zeros(2, 3, dtype=torch.int64)),
    ],
    ids=[
        "truths",
        "square",
        "outer",
        "float_power",
        "copysign",
        "logsumexp",
        "sum_to_size",
        "margin",
        "out",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_results_of_other_types_than_their_operands(function: Callable[..., Any]) -> None:
    program = sardonyx.export(Of(function), (WHOLE,), capture="trace")
    wanted = function(WHOLE)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for ours, theirs in zip(program(WHOLE), wanted, strict=True):
        torch.testing.assert_close(torch.as_tensor(ours), theirs)
