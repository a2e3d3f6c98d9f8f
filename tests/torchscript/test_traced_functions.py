"""torch.autograd.Functions in models that are traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.autograd import Function

import sardonyx


class Inline(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, scale: float) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * scale + 1

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad, None


class InPlace(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        ctx.mark_dirty(x)
        return x


class Apart(Function):
    """With its context set up in a method of its own."""

    @staticmethod
    def forward(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.sin(), x.cos()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)


class Symbolic(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(min=0)

    @staticmethod
    def symbolic(g: Any, x: Any) -> Any:
        return g.op("Relu", x)


class Calls(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        sine, cosine = Apart.apply(x)
        return Symbolic.apply(Inline.apply(InPlace.apply(x.clone()), 0.5) - sine * cosine)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("capture", ["trace", "torch", "auto"])
def test_functions_are_what_they_compute(capture: str) -> None:
    program = sardonyx.export(
        Calls(), (torch.randn(2, 3),), dynamic_shapes=({0: "rows"},), capture=capture
    )
    x = torch.randn(5, 3)
    torch.testing.assert_close(program(x)[0], Calls()(x))
    assert "Relu" in {node.op_type for node in program.model_proto.graph.node}


@torch.jit.script
def loops(x: torch.Tensor, count: int, scale: float = 0.5, negated: bool = False) -> torch.Tensor:
    for i in range(count):
        x = x * scale + i
    if negated:
        x = -x
    return x


class Loops(nn.Module):
    def forward(self, x: torch.Tensor, count: int) -> torch.Tensor:
        for i in range(count):
            x = x * 0.5 + i
        return x


class Held(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.loops = torch.jit.script(Loops())

    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return self.loops(x, n) - self.loops(x, count=x.size(0) + 1)


class Called(nn.Module):
    def __init__(self, program: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.program = program

    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return self.program(x, n)


GIVEN: dict[str, nn.Module] = {
    "data": Called(loops),
    "sizes": Called(lambda x, n: loops(x, x.size(0) * 2) * n),
    "by name": Called(lambda x, n: loops(x, negated=n > 4, scale=n * 0.5, count=n + 1)),
    "to a method": Held(),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"dynamo": False}], ids=["captured", "legacy"])
@pytest.mark.parametrize("model", GIVEN.values(), ids=GIVEN)
def test_scripted_functions_read_their_numbers_of_what_they_are_given(
    model: nn.Module, options: dict[str, Any]
) -> None:
    example = (torch.ones(2, 3), torch.tensor(3))
    axes = {"x": {0: "rows"}}
    program = sardonyx.export(model, example, dynamic_shapes={**axes, "n": {}}, **options)
    assert not program.notes
    for rows, n in ((5, 6), (1, 0), (4, 4)):
        x, number = torch.randn(rows, 3), torch.tensor(n)
        torch.testing.assert_close(program(x, number)[0], model(x, number))


def test_scripted_functions_are_as_before() -> None:
    before = type(loops).__call__
    sardonyx.export(GIVEN["data"], (torch.ones(2), torch.tensor(1)), capture="trace")
    assert type(loops).__call__ is before
    assert torch.equal(loops(torch.ones(2), 1), torch.full((2,), 0.5))
