"""Integers for ONNX Runtime's CUDA provider: what it has no kernels of for them, or computes in
float32. Its CPU provider computes the same of the forms that stand for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from bench.cuda.placing import left_to_the_cpu
from torch.export import Dim

import sardonyx
from sardonyx._runtime.session import open_session

from .programs import Program

Function = Callable[[torch.Tensor], torch.Tensor]
DTYPES = [torch.int32, torch.int64]
# float32 holds none of these.
MANY = 2**24 + 1


def check(function: Function, dtype: torch.dtype, *operators: str, without: str = "") -> None:
    """The answers are PyTorch's, at other sizes than the example's; the operators are there, and
    not the one it is to be without."""
    example = (torch.ones(2, 3, dtype=dtype),)
    runtime: Any = "onnxruntime-cuda"
    shapes = ({0: Dim("rows"), 1: Dim("columns")},)
    model = Program(function)
    program = sardonyx.export(model, example, target_runtime=runtime, dynamic_shapes=shapes)
    made = program.model_proto
    kinds = {node.op_type for node in made.graph.node}
    assert set(operators) <= kinds
    assert without not in kinds
    assert not left_to_the_cpu(made)
    session = open_session(made.SerializeToString())
    numbers = torch.tensor([[3, MANY, MANY - 1, MANY + 1, MANY + 1], [-MANY, 0, -MANY - 2, 5, 0]])
    for x in (numbers, numbers[:1, :2], -numbers, numbers * 0):
        (found,) = session.run(None, {session.get_inputs()[0].name: x.to(dtype).numpy()})
        result = torch.from_numpy(found)
        wanted = function(x.to(dtype))
        assert result.dtype == wanted.dtype
        assert torch.equal(result, wanted)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_greatest_of_many_digits(dtype: torch.dtype) -> None:
    check(lambda x: x.amax(-1), dtype, "TopK")
    check(lambda x: x.amax((0, 1), keepdim=True), dtype, "TopK")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_least_of_many_digits(dtype: torch.dtype) -> None:
    check(lambda x: x.amin(0), dtype, "TopK")


def test_sum_of_many_digits() -> None:
    check(lambda x: x.sum(-1), torch.int64, "ReduceSum", "Div")
    check(lambda x: x.sum((0, 1), keepdim=True), torch.int64, "ReduceSum", "Div")
    check(lambda x: x.sum(-1), torch.int32, "ReduceSum", without="Div")


def test_sum_that_needs_all_bits_or_more() -> None:
    factors = torch.tensor([1, 1_000_000_007, 1_000_000_007**2, -7, 2**62])
    check(lambda x: (x[..., None] * factors[1:3]).sum(-1), torch.int64, "ReduceSum", "Div")
    check(lambda x: (x[..., None] * factors).sum(), torch.int64, "ReduceSum", "Div")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sum_of_truths(dtype: torch.dtype) -> None:
    check(lambda x: (x > 0).sum(-1, dtype=dtype), dtype, "ReduceSum")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_greatest_of_few_digits(dtype: torch.dtype) -> None:
    check(lambda x: (x > 0).to(dtype).amax(-1), dtype, "ReduceMax")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_place_of_the_greatest_integer(dtype: torch.dtype) -> None:
    check(lambda x: x.argmax(-1), dtype, "ArgMax", "Equal")
    check(lambda x: (x > 0).to(dtype).argmax(0, keepdim=True), dtype, "ArgMax")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_place_of_the_least_integer(dtype: torch.dtype) -> None:
    check(lambda x: x.argmin(-1), dtype, "Equal")
    check(lambda x: (x > 0).to(dtype).argmin(-1), dtype, "ArgMin")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_padded_integers(dtype: torch.dtype) -> None:
    pad = torch.nn.functional.pad
    check(lambda x: pad(x, (1, 2), value=7), dtype, "Concat")
    check(lambda x: pad(x, (0, 1, 2, 0)), dtype, "Concat")
    check(lambda x: pad(x, (0, x.shape[1] + 1)), dtype, "Concat")
