"""Layers that ONNX Runtime's WebGPU provider has no kernel for: a test a row. The CPU provider
computes the same; `make webgpu` runs it on WebGPU."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._runtime.session import open_session

from .programs import Program


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("axis", [-1, 0])
def test_log_softmax_without_a_kernel(dtype: torch.dtype, axis: int) -> None:
    """Next to infinity, and where exp() overflows."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(x, axis)

    program = sardonyx.export(Program(function), (torch.randn(3, 5, dtype=dtype),),
                              target_runtime="webgpu",
                              dynamic_shapes=({0: Dim("batch", max=4096)},))  # fmt: skip
    made = program.model_proto
    assert "LogSoftmax" not in {node.op_type for node in made.graph.node}
    session = open_session(made.SerializeToString())
    beyond = torch.tensor([[3e4, -3e4, 0, float("-inf"), 1], [float("inf"), 0, 1, 2, 3]])
    for numbers in (torch.randn(4000, 5) * 9, torch.randn(1, 5), beyond):
        x = numbers.to(dtype)
        (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        # In float16 PyTorch rounds more than once.
        expected = function(x.double()).to(dtype)
        torch.testing.assert_close(torch.from_numpy(found), expected, equal_nan=True)
