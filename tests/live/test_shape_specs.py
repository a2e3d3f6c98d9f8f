"""dynamic_shapes as PyTorch's ShapesSpec, and forward() decorated with one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import sardonyx
from sardonyx._torch_private.shape_specs import SPECS

pytestmark = pytest.mark.skipif(not SPECS.available, reason=SPECS.reason)
if SPECS.available:
    from torch.fx.experimental.dynamic_spec import (
        DictSpec,
        ParamsSpec,
        SeqSpec,
        ShapesSpec,
        ShapeVar,
        TensorSpec,
        dynamic_spec,
    )

EXAMPLE = (torch.randn(8, 3), torch.randn(16, 3))
OTHER = (torch.randn(6, 3), torch.randn(12, 3))


class Joined(torch.nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([x.tanh(), y])


def dims(program: sardonyx.ONNXProgram) -> list[list[Any]]:
    inputs = program.model_proto.graph.input
    shapes = [each.type.tensor_type.shape.dim for each in inputs]
    return [[dim.dim_param or dim.dim_value for dim in shape] for shape in shapes]


def check(model: torch.nn.Module, program: sardonyx.ONNXProgram, other: Any = OTHER) -> None:
    for got, want in zip(program(*other), [model(*other)], strict=True):
        torch.testing.assert_close(torch.as_tensor(got), want)


@pytest.mark.parametrize("capture", ["auto", "torch", "quick"])
@pytest.mark.parametrize("wrapped", [True, False])
def test_sizes_and_what_is_computed_from_them(capture: Any, wrapped: bool) -> None:
    batch = ShapeVar("batch", min=2, max=128)
    # The computed size comes first.
    params = ParamsSpec({"y": TensorSpec([batch * 2, 3]), "x": TensorSpec([batch, None])})
    spec = ShapesSpec(params, assumptions=[batch % 2 == 0]) if wrapped else params
    program = sardonyx.export(Joined(), EXAMPLE, dynamic_shapes=spec, capture=capture)
    assert dims(program) == [["batch", 3], ["2*batch", 3]]
    check(Joined(), program)


def test_an_assumption_that_the_model_needs() -> None:
    class Pairs(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.reshape(2, -1, 3).sum(0)

    batch = ShapeVar("batch")
    spec = ShapesSpec({"x": TensorSpec([batch, 3])}, assumptions=[batch % 2 == 0])
    program = sardonyx.export(Pairs(), EXAMPLE[:1], dynamic_shapes=spec)
    check(Pairs(), program, OTHER[:1])


def test_variables_of_one_name_are_two() -> None:
    spec = ShapesSpec({name: TensorSpec([ShapeVar("n"), 3]) for name in ("x", "y")})
    program = sardonyx.export(Joined(), EXAMPLE, dynamic_shapes=spec)
    assert dims(program) == [["n", 3], ["n_2", 3]]
    check(Joined(), program, (torch.randn(5, 3), torch.randn(7, 3)))


@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_a_decorated_forward(capture: Any) -> None:
    class Decorated(torch.nn.Module):
        @dynamic_spec({"x": TensorSpec([ShapeVar("n"), 3]), "y": TensorSpec([ShapeVar("m"), 3])})
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return torch.cat([x, y])

    program = sardonyx.export(Decorated(), EXAMPLE, capture=capture)
    assert dims(program) == [["n", 3], ["m", 3]]
    check(Decorated(), program)
    with pytest.raises(sardonyx.UsageError, match="not both"):
        sardonyx.export(Decorated(), EXAMPLE, dynamic_shapes=({0: "n"}, None))


def test_containers() -> None:
    class Nested(torch.nn.Module):
        def forward(self, some: dict[str, Any], *rest: Tensor, **named: Tensor) -> Tensor:
            return torch.cat([some["one"], *some["more"], *rest, *named.values()])

    def spec(name: str) -> Any:
        return TensorSpec([ShapeVar(name), 3])

    shapes = ParamsSpec(
        {
            "some": DictSpec({"one": spec("a"), "more": SeqSpec([spec("b")])}),
            "*args": [spec("c")],
            "**kwargs": {"last": spec("d")},
        }
    )
    of = [torch.randn(n, 3) for n in (3, 4, 5, 6)]
    program = sardonyx.export(
        Nested(),
        ({"one": of[0], "more": [of[1]]}, of[2]),
        kwargs={"last": of[3]},
        dynamic_shapes=shapes,
    )
    assert dims(program) == [["a", 3], ["b", 3], ["c", 3], ["d", 3]]
