"""Assignments to parts of tensors. PyTorch asks whether the first dimensions of the value are 1,
which is no branch of the model's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import sardonyx
from sardonyx.errors import SpecializationWarning


def added(a: torch.Tensor, _: torch.Tensor, i: torch.Tensor) -> None:
    a[:, 0, i] += 3


def copied(a: torch.Tensor, x: torch.Tensor, i: torch.Tensor) -> None:
    a[:, 0, i] = x[:, 1, i]


def scaled(a: torch.Tensor, x: torch.Tensor, i: torch.Tensor) -> None:
    a[:, i] = x[:, i] * 2


def sliced(a: torch.Tensor, x: torch.Tensor, _: torch.Tensor) -> None:
    a[:, 1:3] = x[:, :2]


@pytest.mark.parametrize("capture", ["auto", "torch"])
@pytest.mark.parametrize("assign", [added, copied, scaled, sliced])
def test_asks_for_no_branch(assign: Callable[..., None], capture: Any) -> None:
    class Assigning(torch.nn.Module):
        def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            a = x.clone()
            assign(a, x, i)
            return a

    model, i = Assigning(), torch.tensor([0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpecializationWarning)
        program = sardonyx.export(
            model, (torch.randn(4, 5, 6), i), dynamic_shapes=({0: "batch"}, None), capture=capture
        )
    assert all(node.op_type != "If" for node in program.model_proto.graph.node)
    for batch in (0, 1, 2, 7):
        x = torch.randn(batch, 5, 6)
        torch.testing.assert_close(program(x, i)[0], model(x, i))
