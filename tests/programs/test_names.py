"""Names of inputs, outputs and dimensions are the user's, and never collide."""

from __future__ import annotations

import onnx
import pytest
import torch
from torch.export import Dim

from tests.harness import Exported, assert_exports


class TwoInTwoOut(torch.nn.Module):
    def forward(self, x, y):
        return x + y, x * y


PAIR = (torch.randn(3, 4), torch.randn(3, 4))


def dims(values: list[onnx.ValueInfoProto]) -> dict[str, list[str | int]]:
    return {
        v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values
    }


def input_dims(exported: Exported) -> dict[str, list[str | int]]:
    return dims(list(exported.model.graph.input))


def output_dims(exported: Exported) -> dict[str, list[str | int]]:
    return dims(list(exported.model.graph.output))


def test_wanted_names() -> None:
    exported = assert_exports(
        TwoInTwoOut(), PAIR, input_names=["left", "right"], output_names=["sum", "product"]
    )
    assert exported.session.inputs == ["left", "right"]
    assert exported.session.outputs == ["sum", "product"]


def test_fewer_names_than_inputs_name_the_first() -> None:
    exported = assert_exports(TwoInTwoOut(), PAIR, input_names=["left"], output_names=["sum"])
    assert exported.session.inputs == ["left", "y"]
    assert exported.session.outputs[0] == "sum"


def test_names_that_the_program_uses_otherwise() -> None:
    """`mul` and `y` are names of captured values, too."""
    exported = assert_exports(
        TwoInTwoOut(), PAIR, input_names=["mul", "add"], output_names=["y", "x"]
    )
    assert exported.session.inputs == ["mul", "add"]
    assert exported.session.outputs == ["y", "x"]


def test_an_input_with_the_name_of_a_weight() -> None:
    class Shadow(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(4))

        def forward(self, weight):
            return weight * 2 + self.weight

    exported = assert_exports(Shadow(), (torch.randn(3, 4),))
    assert exported.session.inputs == ["weight"]


def test_too_many_names_are_refused() -> None:
    with pytest.raises(Exception, match=r"SX1001|names"):
        assert_exports(TwoInTwoOut(), PAIR, input_names=["a", "b", "c"])


def test_one_name_twice_is_refused() -> None:
    with pytest.raises(Exception, match=r"SX1001|twice|names"):
        assert_exports(TwoInTwoOut(), PAIR, input_names=["a", "a"])


def test_dimension_names_are_the_user_s() -> None:
    batch, width = Dim("batch", max=64), Dim("width", max=64)
    shape = {0: batch, 1: width}
    exported = assert_exports(
        TwoInTwoOut(),
        PAIR,
        dynamic_shapes=(shape, shape),
        other_inputs=[(torch.randn(2, 7), torch.randn(2, 7))],
        capture_first=False,
    )
    assert set(map(tuple, input_dims(exported).values())) == {("batch", "width")}
    assert set(map(tuple, output_dims(exported).values())) == {("batch", "width")}


def test_dimension_names_as_strings() -> None:
    exported = assert_exports(
        TwoInTwoOut(),
        PAIR,
        dynamic_shapes=({0: "batch"}, {0: "batch"}),
        other_inputs=[(torch.randn(2, 4), torch.randn(2, 4))],
        capture_first=False,
    )
    assert set(map(tuple, input_dims(exported).values())) == {("batch", 4)}


@pytest.mark.parametrize(
    "axes",
    [
        {"a": {0: "batch"}, "b": {0: "batch"}, "out": {0: "batch"}},
        {"a": [0], "b": [0]},
    ],
)
def test_dynamic_axes(axes: dict[str, object]) -> None:
    exported = assert_exports(
        TwoInTwoOut(),
        PAIR,
        other_inputs=[(torch.randn(6, 4), torch.randn(6, 4))],
        capture_first=False,
        input_names=["a", "b"],
        output_names=["out", "product"],
        dynamic_axes=axes,
    )
    assert all(isinstance(shape[0], str) for shape in input_dims(exported).values())


def test_derived_dimensions_are_said() -> None:
    class Double(torch.nn.Module):
        def forward(self, x):
            return torch.cat([x, x], dim=0), x.reshape(-1)

    exported = assert_exports(
        Double(),
        (torch.randn(3, 4),),
        dynamic_shapes=({0: Dim("n", max=64)},),
        other_inputs=[(torch.randn(5, 4),)],
        capture_first=False,
    )
    shapes = list(output_dims(exported).values())
    assert [len(shape) for shape in shapes] == [2, 1]
    assert all("n" in str(shape[0]) for shape in shapes)


def test_arguments_get_structured_names() -> None:
    class Nested(torch.nn.Module):
        def forward(self, tensors, named):
            return {"out": tensors[0] + tensors[1] * named["k"]}

    exported = assert_exports(Nested(), ([*PAIR], {"k": PAIR[0]}))
    assert len(set(exported.session.inputs)) == 3
    assert exported.session.outputs == ["out"]
