"""Defaults: tensors of parameters that are left out, and PyTorch's default dtype."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

import sardonyx

ONES, TWOS = torch.ones(2, 3), torch.full((3,), 2.0)


class Defaults(nn.Module):
    def forward(self, x: Tensor, y: Tensor = ONES, z: Tensor | None = TWOS) -> Tensor:
        if z is not None:
            y = y * z
        return x + y


def test_a_tensor_that_is_a_default_is_a_weight() -> None:
    module = Defaults()
    script = torch.jit.script(module)
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    program = sardonyx.export(script, (x,))
    assert [each.name for each in program.model_proto.graph.input] == ["x"]
    torch.testing.assert_close(program(x)[0], module(x))
    program = sardonyx.export(script, (x, y))
    torch.testing.assert_close(program(y, x)[0], module(y, x))


@pytest.fixture
def doubles() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


class Quotients(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return x / y, torch.true_divide(x, y) + torch.ones(2), x * 0.5


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("dynamo", [True, False])
def test_integers_by_integers_are_of_the_default_dtype(dynamo: bool) -> None:
    x, y = torch.tensor([1, 2]), torch.tensor([3, 4])
    program = sardonyx.export(torch.jit.script(Quotients()), (x, y), dynamo=dynamo)
    for ours, eager in zip(program(x, y), Quotients()(x, y), strict=True):
        torch.testing.assert_close(ours, eager)
