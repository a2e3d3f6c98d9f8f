"""Integers for ONNX Runtime's CUDA provider: what it has no kernels of for them, or computes in
float32. Its CPU provider computes the same of the forms that stand for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx
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
    check(lambda x: x.sum((0, 1), dtype=torch.int32), torch.int32, "ReduceSum", without="Div")


def test_sum_of_32_bits_wraps_around() -> None:
    check(lambda x: (x * 200).sum(-1, dtype=torch.int32), torch.int32, "ReduceSum")


def _types_of_sums(function: Function, columns: Any) -> set[int]:
    """Of what the sums of the model are sums of."""
    runtime: Any = "onnxruntime-cuda"
    program = sardonyx.export(
        Program(function), (torch.ones(2, 3),), target_runtime=runtime,
        dynamic_shapes=({1: columns},),
    )  # fmt: skip
    types = {value.name: value.type.tensor_type.elem_type for value in _values(program)}
    sums = [node for node in program.model_proto.graph.node if node.op_type == "ReduceSum"]
    assert sums
    return {types[node.input[0]] for node in sums}


def _values(program: Any) -> Any:
    graph = onnx.shape_inference.infer_shapes(program.model_proto).graph
    return [*graph.value_info, *graph.input]


def test_sum_of_truths_is_exact_beyond_the_digits_of_float32() -> None:
    double, integer = onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64
    assert _types_of_sums(lambda x: (x > 0).sum(-1), Dim("columns")) == {double}
    assert _types_of_sums(lambda x: (x > 0).sum(-1), Dim("columns", max=512)) == {integer}


def test_sum_of_places() -> None:
    # float32 holds each place of up to 2^24 elements, but not the sum of 6000 of them.
    def places(x: torch.Tensor) -> torch.Tensor:
        return torch.arange(1000 * x.shape[1]).sum()

    model = Program(places)
    runtime: Any = "onnxruntime-cuda"
    program = sardonyx.export(
        model, (torch.ones(2, 3),), target_runtime=runtime, dynamic_shapes=({1: Dim("columns")},)
    )
    session = open_session(program.model_proto.SerializeToString())
    x = torch.ones(2, 20)
    assert int(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]) == int(model(x))
    assert _types_of_sums(places, Dim("columns")) == {onnx.TensorProto.DOUBLE}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_absolute_sum_of_many_digits(dtype: torch.dtype) -> None:
    kind = {torch.int32: "int32", torch.int64: "int64"}[dtype]
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 20]> '
        f"g ({kind}[a, b] x) => ({kind}[1, 1] y) {{ y = ReduceL1(x) }}"
    )
    runtime: Any = "onnxruntime-cuda"
    made, _ = sardonyx.optimize(model, runtime=runtime)
    assert {"Abs", "ReduceSum"} <= {node.op_type for node in made.graph.node}
    session = open_session(made.SerializeToString())
    (found,) = session.run(None, {"x": torch.tensor([[MANY, -3], [5, 1]]).to(dtype).numpy()})
    assert found.item() == MANY + 9


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_product_of_many_digits(dtype: torch.dtype) -> None:
    check(lambda x: x.prod(-1, dtype=dtype), dtype, "Loop", without="ReduceProd")


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
