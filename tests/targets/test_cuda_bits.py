"""Bitwise operators for ONNX Runtime's CUDA provider, which has no kernels of them: a test a row.
Its CPU provider computes the same of the forms that stand for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import sardonyx
from sardonyx._runtime.session import open_session

from .programs import Program

Function = Callable[[torch.Tensor], torch.Tensor]
RUNTIME = "onnxruntime-cuda"
DTYPES = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
# Single bits, runs at the beginning and in the middle, two runs, none, all, and all but some.
MASKS = [0, 1, 15, 48, 51, -1, -8, -49]


def numbers(dtype: torch.dtype) -> torch.Tensor:
    info = torch.iinfo(dtype)
    edges = torch.tensor([info.min, info.min + 1, 0, 1, 8, 53, info.max - 1, info.max])
    return torch.cat([edges.to(dtype), torch.arange(-60, 60).to(dtype)])


def masks_for(dtype: torch.dtype) -> list[int]:
    info = torch.iinfo(dtype)
    return [mask if info.min < 0 else mask & info.max for mask in MASKS]


def check(function: Function, dtype: torch.dtype, *, bitwise: bool = False) -> None:
    """The answers are PyTorch's, at another size than the example's, without bitwise operators."""
    shapes = ({0: torch.export.Dim("length")},)
    example = (torch.ones(3, dtype=dtype),)
    program = sardonyx.export(
        Program(function), example, target_runtime=RUNTIME, dynamic_shapes=shapes
    )
    made = program.model_proto
    kinds = {node.op_type for node in made.graph.node}
    assert any(kind.startswith("Bitwise") for kind in kinds) == bitwise, kinds
    session = open_session(made.SerializeToString())
    x = numbers(dtype)
    (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    assert torch.equal(torch.from_numpy(found), function(x))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bits_under_a_mask(dtype: torch.dtype) -> None:
    for mask in masks_for(dtype):
        check(lambda x, mask=mask: x & mask, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bits_added_by_a_mask(dtype: torch.dtype) -> None:
    for mask in masks_for(dtype):
        check(lambda x, mask=mask: x | mask, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bits_turned_by_a_mask(dtype: torch.dtype) -> None:
    for mask in masks_for(dtype):
        check(lambda x, mask=mask: x ^ mask, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_bits_turned(dtype: torch.dtype) -> None:
    check(lambda x: ~x, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_masks_of_booleans(dtype: torch.dtype) -> None:
    """Each of other bits, of the other side, and of booleans on both sides."""
    check(lambda x: x & (x > 1), dtype)
    check(lambda x: (x > 1) | x, dtype)
    check(lambda x: x ^ (x > 1).to(dtype), dtype)
    check(lambda x: (x > 1)[None].to(dtype) | (x < 8)[:, None].to(dtype), dtype)
    check(lambda x: (x > 1).to(dtype) & torch.ones_like(x)[:, None] ^ (x < 8).to(dtype), dtype)


def test_masks_that_are_left_to_the_cpu() -> None:
    """No constant, many runs of bits, all bits but the sign."""
    check(lambda x: x & (x + 1), torch.int64, bitwise=True)
    check(lambda x: x & 0b10101, torch.int64, bitwise=True)
    check(lambda x: x & (2**63 - 1), torch.int64, bitwise=True)
