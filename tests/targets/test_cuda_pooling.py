"""MaxPool for ONNX Runtime's CUDA provider, which has kernels of older opsets alone: as slices. Its
CPU provider computes the same of them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._runtime.session import open_session

from .programs import Program

RUNTIME: Any = "onnxruntime-cuda"


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": 2},
        {"kernel_size": (1, 3), "stride": (1, 4)},
        {"kernel_size": 5, "stride": 1, "padding": 2},
        {"kernel_size": 2, "stride": 1, "ceil_mode": True},
        {"kernel_size": (3, 2), "stride": (2, 3), "padding": (1, 0), "dilation": (2, 3)},
    ],
    ids=str,
)
def test_maximum_of_slices(arguments: Any) -> None:
    shapes = ({0: Dim("batch"), 2: Dim("height", min=8), 3: Dim("width", min=8)},)
    pool = Program(lambda x: torch.nn.functional.max_pool2d(x, **arguments))
    program = sardonyx.export(
        pool,
        (torch.randn(2, 3, 9, 12),),
        target_runtime=RUNTIME,
        opset_version=23,
        dynamic_shapes=shapes,
    )
    made = program.model_proto
    assert {node.op_type for node in made.graph.node} <= {"Pad", "Slice", "Max"}
    session = open_session(made.SerializeToString())
    for size in ((1, 3, 8, 8), (3, 3, 13, 10), (2, 3, 17, 31), (0, 3, 8, 9)):
        x = torch.randn(size)
        if x.numel():
            x[0, 0, 1, 2], x[0, 1, 5] = float("inf"), -float("inf")
        (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        assert torch.equal(torch.from_numpy(found), pool(x))


def test_along_one_axis_and_three() -> None:
    for axes, function in ((1, torch.max_pool1d), (3, torch.max_pool3d)):
        pool = Program(lambda x, function=function: function(x, 3, 2, 1))
        x = torch.randn(2, 3, *range(7, 7 + axes))
        program = sardonyx.export(pool, (x,), target_runtime=RUNTIME, opset_version=23)
        made = program.model_proto
        assert "MaxPool" not in {node.op_type for node in made.graph.node}
        session = open_session(made.SerializeToString())
        (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        assert torch.equal(torch.from_numpy(found), pool(x))


def test_a_model_of_pooling_has_the_opset_of_its_kernel() -> None:
    pool = Program(lambda x: torch.max_pool2d(x, 3).relu())
    program = sardonyx.export(pool, (torch.randn(1, 3, 9, 9),), target_runtime=RUNTIME)
    assert [node.op_type for node in program.model_proto.graph.node] == ["MaxPool", "Relu"]
