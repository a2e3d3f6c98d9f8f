"""torch.autograd.Functions in models that are traced."""

from __future__ import annotations

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
