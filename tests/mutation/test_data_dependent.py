"""Programs whose sizes depend on the data, what they assert of it, and what bounds their dims."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.export import Dim

from tests.harness import assert_exports, capture, export

from .data_dependent import DATA_DEPENDENT
from .programs import Program, module_of
from .test_programs import check


@pytest.mark.parametrize("program", DATA_DEPENDENT, ids=lambda program: program.name)
def test_data_dependent(program: Program) -> None:
    check(program)


def asserting(n: Tensor, x: Tensor) -> Tensor:
    size = n.item()
    torch._check(size >= 1)
    torch._check(size <= 4)
    torch._assert_async((x > 0).all(), "x is positive")
    return torch.arange(size)


def test_assertions_are_dropped() -> None:
    inputs = (torch.tensor(3), torch.ones(2))
    exported = assert_exports(module_of(asserting, 2), inputs)
    assert len(exported.session.outputs) == 1


def test_assertions_are_outputs() -> None:
    inputs = (torch.tensor(3), torch.ones(2))
    exported = assert_exports(module_of(asserting, 2), inputs, assertions_as_outputs=True)
    messages = {p.key: p.value for p in exported.model.metadata_props}
    session = exported.session
    names = session.outputs[1:]
    assert names == ["assertion_0", "assertion_1"]
    assert messages["sardonyx.assertion_0"] == "x is positive"
    assert messages["sardonyx.assertion_1"].endswith("<= 4")
    for n, x, expected in (
        (3, torch.ones(2), [True, True]),
        (5, torch.ones(2), [True, False]),
        (1, -torch.ones(2), [False, True]),
    ):
        kept = session.run([torch.tensor(n), x])[1:]
        assert [bool(each) for each in kept] == expected


class TwoInputs(torch.nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x @ y.t() + x[:, :1]


def test_bounds_of_dims_are_metadata() -> None:
    batch, width = Dim("batch", min=3, max=64), Dim("width", max=128)
    captured = capture(
        TwoInputs(),
        (torch.ones(4, 5), torch.ones(4, 5)),
        dynamic_shapes=({0: batch, 1: width}, {0: batch, 1: width}),
    )
    shapes = ({0: batch, 1: width}, {0: batch, 1: width})
    model = export(captured, dynamic_shapes=shapes).model_proto
    said = {p.key: p.value for p in model.metadata_props}
    assert said["sardonyx.dim.batch"] == "3 <= batch <= 64"
    assert said["sardonyx.dim.width"] == "width <= 128"
    names = [[d.dim_param for d in i.type.tensor_type.shape.dim] for i in model.graph.input]
    assert names == [["batch", "width"], ["batch", "width"]]


def test_dims_that_follow_from_others() -> None:
    batch = Dim("batch", min=4, max=50)

    class Halves(torch.nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return x + torch.cat([y, y])

    captured = capture(
        Halves(), (torch.ones(16), torch.ones(8)), dynamic_shapes=({0: 2 * batch}, {0: batch})
    )
    model = export(captured, dynamic_shapes=({0: 2 * batch}, {0: batch})).model_proto
    names = [i.type.tensor_type.shape.dim[0].dim_param for i in model.graph.input]
    assert names == ["2*batch", "batch"]
    assert {p.key: p.value for p in model.metadata_props}["sardonyx.dim.batch"] == (
        "4 <= batch <= 50"
    )
