"""Dynamic sizes of inputs that are structures, or stand beside some."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx

X = torch.randn(2, 4)


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


class Adds(nn.Module):
    def forward(self, x: torch.Tensor, more: Any) -> torch.Tensor:
        values = more.values() if isinstance(more, dict) else more
        return x + sum(value.sum() for value in values)


@pytest.mark.parametrize(
    "more",
    [
        {"a": torch.randn(3), "b": torch.randn(2, 2)},
        (torch.randn(3), torch.randn(2)),
        [torch.randn(3), torch.randn(2)],
        Pair(torch.randn(3), torch.randn(2)),
    ],
    ids=["dict", "tuple", "list", "named tuple"],
)
@pytest.mark.parametrize("shapes", [{"x": {0: "batch"}}, {"x": {0: "batch"}, "more": None}])
def test_a_structure_beside_a_dynamic_tensor_is_static(more: Any, shapes: Any) -> None:
    program = sardonyx.export(Adds(), (X, more), dynamic_shapes=shapes)
    x = torch.randn(5, 4)
    torch.testing.assert_close(program(x, more)[0], Adds()(x, more))


def test_one_tensor_of_a_structure_varies() -> None:
    more = {"a": torch.randn(3), "b": torch.randn(2, 2)}
    program = sardonyx.export(Adds(), (X, more), dynamic_shapes=(None, {"a": {0: "length"}}))
    longer = {"a": torch.randn(7), "b": more["b"]}
    torch.testing.assert_close(program(X, longer)[0], Adds()(X, longer))


class Doubles(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def dims(program: sardonyx.ONNXProgram) -> list[str | int]:
    shape = program.model_proto.graph.input[0].type.tensor_type.shape
    return [d.dim_param or d.dim_value for d in shape.dim]


@pytest.mark.parametrize("shapes", [({-1: "width"},), {"x": {-1: Dim("width")}}])
def test_axes_are_counted_from_the_end_too(shapes: Any) -> None:
    assert dims(sardonyx.export(Doubles(), (X,), dynamic_shapes=shapes)) == [2, "width"]


def test_dynamic_axes_are_counted_from_the_end_too() -> None:
    program = sardonyx.export(Doubles(), (X,), input_names=["x"], dynamic_axes={"x": [-1]})
    assert dims(program) == [2, "x_dim_1"]


@pytest.mark.parametrize(
    "options",
    [
        {"dynamic_shapes": ({2: "none"},)},
        {"dynamic_shapes": ({-3: "none"},)},
        {"dynamic_axes": {"x": {2: "none"}}},
    ],
)
def test_an_axis_that_is_not_there_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match="x has 2 dimensions"):
        sardonyx.export(Doubles(), (X,), **options)


def test_an_axis_said_in_two_ways_is_refused() -> None:
    with pytest.raises(sardonyx.OnnxExporterError, match="dimension 1 of x is said twice"):
        sardonyx.export(Doubles(), (X,), dynamic_shapes=({1: "a", -1: "b"},))


def test_a_key_of_dynamic_axes_that_is_no_input_is_told() -> None:
    with pytest.warns(UserWarning, match="'y', which are no inputs"):
        sardonyx.export(Doubles(), (X,), input_names=["x"], dynamic_axes={"x": [0], "y": [0]})


def test_the_root_of_a_derived_dimension_names_the_symbol() -> None:
    half = Dim("half")
    program = sardonyx.export(Doubles(), (torch.ones(8, 4),), dynamic_shapes=({0: 2 * half},))
    assert dims(program) == ["2*half", 4]
    x = torch.randn(6, 4)
    torch.testing.assert_close(program(x)[0], x * 2)


@pytest.mark.parametrize("shapes", [[{0: "batch"}], {"last_hidden_state": {0: "batch"}}])
def test_an_output_of_transformers_as_an_argument(shapes: Any) -> None:
    from transformers.modeling_outputs import BaseModelOutput

    class Doubled(torch.nn.Module):
        def forward(self, encoder_outputs: Any) -> torch.Tensor:
            doubled: torch.Tensor = encoder_outputs.last_hidden_state * 2
            return doubled

    given = {"encoder_outputs": BaseModelOutput(last_hidden_state=torch.ones(2, 3))}
    program = sardonyx.export(
        Doubled(), kwargs=given, dynamic_shapes={"encoder_outputs": shapes}, capture="torch"
    )
    other = BaseModelOutput(last_hidden_state=torch.ones(5, 3))
    torch.testing.assert_close(program(encoder_outputs=other)[0], torch.full((5, 3), 2.0))
