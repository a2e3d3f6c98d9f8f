"""Positions of tokens for ONNX Runtime's WebGPU provider, which has no int64: a test a row. The CPU
provider computes the same of int32; `make webgpu` runs it on WebGPU."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._runtime.session import open_session

from .programs import Program

RUNTIME = "webgpu"
Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def positions(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(x.shape[1])


def check(function: Function, *, is_narrow: bool = True) -> None:
    """The answers are PyTorch's at several sizes; positions are int32, or all are int64."""
    x, past = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    batch = Dim("batch", max=64)
    free = ({0: batch, 1: Dim("length", max=512)}, {0: batch, 1: Dim("past", max=512)})
    program = sardonyx.export(Program(function), (x, past), target_runtime=RUNTIME,
                              dynamic_shapes=free)  # fmt: skip
    made = onnx.shape_inference.infer_shapes(program.model_proto)
    types = {each.name: each.type.tensor_type.elem_type for each in made.graph.value_info}
    ranges = {types[n.output[0]] for n in made.graph.node if n.op_type == "Range"}
    assert ranges == {onnx.TensorProto.INT32 if is_narrow else onnx.TensorProto.INT64}
    session = open_session(made.SerializeToString())
    for lengths in ((3, 5), (1, 0), (7, 1), (1, 300)):
        inputs = [torch.randn(2, length, 4) for length in lengths]
        names = [each.name for each in session.get_inputs()]
        feeds = dict(zip(names, (each.numpy() for each in inputs), strict=True))
        (found,) = session.run(None, feeds)
        expected = function(*inputs)
        assert torch.equal(torch.from_numpy(found), expected)
        assert torch.from_numpy(found).dtype == expected.dtype


def test_positions_that_are_equal() -> None:
    check(lambda x, past: positions(x)[:, None] + past.shape[1] == positions(past))


def test_positions_that_are_greater() -> None:
    check(lambda x, past: positions(x)[:, None] > positions(past) - x.shape[1])


def test_positions_that_are_not_less() -> None:
    check(lambda x, past: positions(torch.cat([x, past], 1)) >= positions(x)[:, None] + 2)


def test_positions_that_are_less() -> None:
    check(lambda x, past: positions(x) - past.shape[1] < positions(x))
    check(lambda x, past: positions(x)[:, None] - positions(past) < positions(x)[:, None])


def test_positions_that_are_not_greater() -> None:
    """As a decoder makes its mask, and next to a size."""
    check(lambda x, past: positions(torch.cat([past, x], 1)) <= positions(x)[:, None]
          + past.shape[1])  # fmt: skip
    check(lambda x, past: positions(x) <= past.shape[1])


@pytest.mark.parametrize("to", [torch.float32, torch.float16, torch.int32])
def test_positions_as_numbers(to: torch.dtype) -> None:
    check(lambda x, past: (positions(x) + past.shape[1])[:, None].to(to) * 2)


def test_positions_in_a_table() -> None:
    table = torch.randn(1024, 4)
    check(lambda x, past: table[positions(x)[:, None] + positions(past)])


def counted(x: torch.Tensor) -> torch.Tensor:
    """How many rows are positive so far."""
    return (x[0, :, 0] > 0).long().cumsum(0)


@pytest.mark.parametrize("function", [
    lambda x, past: positions(x).repeat(2, 1)[:, 1:] >= 2,
    lambda x, past: counted(x)[:, None] == positions(past) + x.shape[1],
    lambda x, past: torch.cat([positions(x), positions(past) - 3])[:, None] < counted(x),
    lambda x, past: (positions(x)[:, None] - positions(past)).abs() * 3 < 5,
    lambda x, past: torch.where(x[0, :, 0] > 0, positions(x), past.shape[1]) > counted(x),
    lambda x, past: torch.arange(512)[: x.shape[1]] != positions(x).flip(0)[:1],
    lambda x, past: torch.arange(9).repeat(2, 600)[:2, None, : x.shape[1]].gather(
        2, positions(x).expand(2, 1, x.shape[1])) != positions(x),
    lambda x, past: torch.arange(1024).flip(0)[positions(x) + past.shape[1]] < positions(x),
    lambda x, past: -torch.min(positions(x) - positions(past)[:, None],
                               torch.zeros_like(positions(past))[:, None]) < 2,
], ids=["tiled", "counted", "joined", "far", "chosen", "sliced", "gathered", "looked-up",
        "behind"])  # fmt: skip
def test_integers_without_a_kernel_of_int32(function: Function) -> None:
    """They are float32, which holds them exactly."""
    check(function)


def test_products_beyond_int32_stay() -> None:
    check(lambda x, past: positions(x) * 2**20 < positions(x) - past.shape[1] * 2**20,
          is_narrow=False)  # fmt: skip


def test_other_integers_stay() -> None:
    """What an input says has no bounds."""
    check(lambda x, past: positions(x) < (x[0, :, 0] * 1e6).long() * 2**20, is_narrow=False)


def test_a_table_of_buckets() -> None:
    """As T5 has one of distances: what is not selected may be beyond int32."""
    table = torch.randn(32, 3)

    def function(x: torch.Tensor, past: torch.Tensor) -> torch.Tensor:
        distance = positions(past) - positions(x)[:, None]
        far = 8 + (torch.log(distance.abs().float() / 8) * 2.9).long()
        far = torch.min(far, torch.full_like(far, 15))
        bucket = (distance > 0).long() * 16
        return table[bucket + torch.where(distance.abs() < 8, distance.abs(), far)]

    check(function)


def test_the_least_int32_has_an_opposite() -> None:
    class Opposite(torch.nn.Module):
        def forward(self, numbers: torch.Tensor) -> torch.Tensor:
            return -numbers.long() > torch.arange(numbers.shape[0])

    numbers = torch.tensor([-(2**31), 2**31 - 1, -3], dtype=torch.int32)
    program = sardonyx.export(Opposite(), (numbers,), target_runtime=RUNTIME)
    session = open_session(program.model_proto.SerializeToString())
    (found,) = session.run(None, {session.get_inputs()[0].name: numbers.numpy()})
    assert torch.equal(torch.from_numpy(found), Opposite()(numbers))


def test_places_in_each_row() -> None:
    def function(x: torch.Tensor, past: torch.Tensor) -> torch.Tensor:
        rows = torch.cat([x, past], 1)
        picked = rows[torch.arange(x.shape[0]), rows[:, :, 0].argmax(1)]
        return picked + (positions(x) < 2).sum()

    check(function)


def test_what_an_input_says_next_to_a_constant() -> None:
    """float32 rounds no other integer to one below 2^24."""

    class Counted(torch.nn.Module):
        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return torch.stack([ids == 2**24 - 1, ids < 3, ids <= 2**20, ids >= -7])

    ids = torch.tensor([2**24 - 1, 2**24, 2**32 + 1, -(2**62), 2**62, 3, 2, 1, 0, -7, -8, -(2**63)])
    program = sardonyx.export(Counted(), (ids,), target_runtime=RUNTIME)
    made = onnx.shape_inference.infer_shapes(program.model_proto)
    types = {each.name: each.type.tensor_type.elem_type for each in made.graph.value_info}
    compared = {"Equal", "Less", "Greater", "GreaterOrEqual", "LessOrEqual"}
    assert {types.get(n.input[0]) for n in made.graph.node if n.op_type in compared} == {
        onnx.TensorProto.FLOAT
    }
    session = open_session(made.SerializeToString())
    (found,) = session.run(None, {session.get_inputs()[0].name: ids.numpy()})
    assert torch.equal(torch.from_numpy(found), Counted()(ids))


def check_angles(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Of position ids as they are fed, to the last bit of the angle, and of a dynamic length: below
    a bound they are rows of a table."""
    frequencies = 10000.0 ** -(torch.arange(0, 16, 2).float() / 16)

    def forward(ids: torch.Tensor) -> torch.Tensor:
        counted = torch.outer(torch.arange(ids.shape[1]).float(), frequencies)
        return torch.cat([function(ids[..., None].float() * frequencies), function(counted)[None]])

    ids = torch.arange(5)[None]
    for length, tables in ((Dim("length", max=4096), 1), (Dim("length"), 0)):
        program = sardonyx.export(Program(forward), (ids,), target_runtime=RUNTIME,
                                  dynamic_shapes=({1: length},), opset_version=23)  # fmt: skip
        made = program.model_proto
        kinds = [node.op_type for node in made.graph.node]
        assert (kinds.count("Gather"), kinds.count("Mul")) == (tables, 2 - tables)
        types = {a.i for n in made.graph.node for a in n.attribute if a.name == "to"}
        assert {onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT} <= types
        session = open_session(made.SerializeToString())
        for fed in (
            torch.arange(100, 3000)[None],
            torch.tensor([[123457]]),
            ids.new_zeros(1, 4096),
        ):
            (found,) = session.run(None, {session.get_inputs()[0].name: fed.numpy()})
            assert (torch.from_numpy(found) - forward(fed)).abs().max() < 1e-6


def test_cosines_of_positions() -> None:
    check_angles(torch.cos)


def test_sines_of_positions() -> None:
    check_angles(torch.sin)
