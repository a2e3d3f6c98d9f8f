"""Operators that the reader of TorchScript does not know, in modules that PyTorch holds: it is
asked what they give."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import sardonyx
from sardonyx import op


@torch.library.custom_op("reader::soft_clip", mutates_args=())
def soft_clip(x: torch.Tensor, limit: float = 1.0) -> torch.Tensor:
    return torch.tanh(x / limit) * limit


@soft_clip.register_fake
def _(x: torch.Tensor, limit: float = 1.0) -> torch.Tensor:
    return torch.empty_like(x)


def translate_soft_clip(x: Any, limit: float = 1.0) -> Any:
    return op.Mul(op.Tanh(op.Div(x, limit)), limit)


class Clips(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.reader.soft_clip(x, 3.0).mean(0)


X = torch.randn(3, 4)
SHAPES = ({0: "rows", 1: "columns"},)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", ["traced here", "traced", "scripted"])
def test_an_operator_of_the_user_s_own(form: str) -> None:
    model: Any = Clips()
    if form == "traced":
        model = torch.jit.trace(model, X)
    if form == "scripted":
        model = torch.jit.script(model)
    program = sardonyx.export(
        model,
        (X,),
        dynamic_shapes=SHAPES,
        capture="trace" if form == "traced here" else "auto",
        custom_translation_table={soft_clip: translate_soft_clip},
    )
    x = torch.randn(5, 6)
    torch.testing.assert_close(program(x)[0], Clips()(x))


@torch.library.custom_op("reader::sizes", mutates_args=())
def sizes(x: torch.Tensor, n: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    a, b, c, d = (x.new_zeros(shape, dtype=torch.int64) for shape in _shapes(x, n))
    return a, b, c, d


@sizes.register_fake
def _(x: torch.Tensor, n: int) -> Any:
    return tuple(x.new_empty(shape, dtype=torch.int64) for shape in _shapes(x, n))


def _shapes(x: torch.Tensor, n: int) -> list[list[int]]:
    a, b = x.shape
    return [[a, n + b], [a * b, b * b], [min(a, b), max(a, 100)], [a // 2, 7]]


class Sizes(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return torch.ops.reader.sizes(x, x.shape[0])


@pytest.mark.filterwarnings("ignore")
def test_sizes_are_those_that_always_hold() -> None:
    program = sardonyx.export(
        torch.jit.script(Sizes()),
        (X,),
        dynamic_shapes=SHAPES,
        custom_translation_table={
            sizes: lambda x, n: op.domain("reader", 1).Shapes(x, n, _outputs=4)
        },
    )
    found = [
        [dim.dim_param or dim.dim_value for dim in output.type.tensor_type.shape.dim]
        for output in program.model_proto.graph.output
    ]
    unknown = [found[2][0], found[2][1], found[3][0]]
    assert found == [
        ["rows", "columns + rows"],
        ["columns*rows", "columns**2"],
        unknown[:2],
        [unknown[2], 7],
    ]
    assert not {"rows", "columns", 100} & set(unknown)
    assert len(set(unknown)) == 3


@torch.library.custom_op("reader::no_fake", mutates_args=())
def no_fake(x: torch.Tensor) -> torch.Tensor:
    return x + 1


class NoFake(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.reader.no_fake(x)


@pytest.mark.filterwarnings("ignore")
def test_what_pytorch_cannot_tell_is_refused() -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match="reader::no_fake"):
        sardonyx.export(NoFake(), (X,), capture="trace")


class Rare(nn.Module):
    """Operators whose results no rule here tells."""

    def forward(self, x: torch.Tensor) -> Any:
        return torch.cartesian_prod(x[0], x[:, 0]), torch.kron(x, x)


@pytest.mark.filterwarnings("ignore")
def test_operators_without_a_rule() -> None:
    program = sardonyx.export(Rare(), (X,), dynamic_shapes=SHAPES, capture="trace")
    x = torch.randn(5, 6)
    for answer, wanted in zip(program(x), Rare()(x), strict=True):
        torch.testing.assert_close(answer, wanted)
