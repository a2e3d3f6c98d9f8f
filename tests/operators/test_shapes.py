"""Shapes and views: sizes of -1, negative dims, empty and 0-d tensors, odd strides."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

from tests.operators.check import Call, Case, check, exporter, table
from tests.operators.inputs import bools, complexes, floats, ints, scalar
from tests.opinfo.capture import capture_module
from tests.opinfo.runtime import RuntimeRefused, Session

prims = torch.ops.prims
X = floats(2, 3, 4)


@table(
    (lambda x: x.view(6, 4), X),
    (lambda x: x.view(-1), X),
    (lambda x: x.view(2, -1), X),
    (lambda x: x.reshape(4, -1, 2), X),
    (lambda x: x.reshape(x.shape[0], -1), X),
    (lambda x: x.reshape(-1, x.shape[2]), X),
    (lambda x: x.reshape(x.shape[2], x.shape[0] * x.shape[1]), X),
    (lambda x: x.view(x.shape[0], x.shape[1], 2, x.shape[2] // 2), X),
    (lambda x: x.reshape(()), floats(1, 1)),
    (lambda x: x.reshape(1, 1), scalar(2.0)),
    (lambda x: x.reshape(0, 7), floats(0, 3)),
    (lambda x: x.reshape(3, 0, 2), floats(0, 3)),
    (lambda x: x.reshape(-1, 3), floats(0, 3)),
    (lambda x: x.view(0), floats(2, 0)),
    (lambda x: x.t().reshape(-1), floats(2, 3)),
    (lambda x: x.view(torch.int32), floats(3)),
    (lambda x: x.view(torch.uint8), floats(3)),
    (lambda x: x.view(torch.float16), floats(3)),
    (lambda x: x.flatten(), X),
    (lambda x: x.flatten(1), X),
    (lambda x: x.flatten(0, -2), X),
    (lambda x: x.flatten(), scalar(1.0)),
    (lambda x: x.unflatten(-1, (2, -1)), X),
    (lambda x: x.unflatten(0, (1, 2)), X),
    (lambda x: x.permute(2, 0, 1), X),
    (lambda x: x.permute(-1, 0, -2), X),
    (lambda x: x.transpose(0, -1), X),
    (lambda x: x.t(), floats(3)),
    (lambda x: x.t(), scalar(3.0)),
    (lambda x: x.mT, X),
    (lambda x: x.mH, complexes(2, 3)),
    (lambda x: x.T, floats(2, 3)),
    (lambda x: x.movedim(0, -1), X),
    (lambda x: x.movedim((0, 2), (1, 0)), X),
    (lambda x: x.swapaxes(0, 1), X),
    (lambda x: x.squeeze(), floats(1, 3, 1)),
    (lambda x: x.squeeze(0), floats(1, 3, 1)),
    (lambda x: x.squeeze(1), floats(1, 3, 1)),
    (lambda x: x.squeeze((0, -1)), floats(1, 3, 1)),
    (lambda x: x.squeeze(), scalar(1.0)),
    (lambda x: x.unsqueeze(-1), X),
    (lambda x: x.unsqueeze(1), X),
    (lambda x: x.unsqueeze(0), scalar(1.0)),
    (lambda x: x.expand(4, -1, 3), floats(1, 3)),
    (lambda x: x.expand(2, 3), scalar(1.0)),
    (lambda x: x.expand(-1, 0), floats(2, 1)),
    (lambda x: x.expand(0, 3) * 2, floats(1, 3)),
    (lambda x: x.expand(0, 3), floats(1, 3).bfloat16()),
    (lambda x, y: x.expand_as(y), floats(1, 3), floats(2, 3)),
    (lambda x, y: x.expand(y.shape[0], -1), floats(1, 3), floats(5, 2)),
    (lambda x: torch.broadcast_to(x, (2, 2, 3)), floats(3)),
    (lambda x, y: torch.broadcast_tensors(x, y), floats(3, 1), floats(4)),
    (lambda x: x.repeat(2, 3), floats(2, 3)),
    (lambda x: x.repeat(2, 1, 3), floats(2, 3)),
    (lambda x: x.repeat(0, 1), floats(2, 3)),
    (lambda x: x.repeat(3), scalar(2.0)),
    (lambda x: x.tile(2), floats(2, 3)),
    (lambda x: x.tile((2, 1, 2)), floats(2, 3)),
    (lambda x: x.repeat_interleave(2), floats(2, 3)),
    (lambda x: x.repeat_interleave(3, dim=1), floats(2, 3)),
    (lambda x: x.repeat_interleave(2, dim=-2), X),
    (lambda x, n: x.repeat_interleave(n, dim=0), floats(3, 2), ints(3, low=0, high=4)),
    (lambda n: torch.repeat_interleave(n), ints(3, low=0, high=4)),
    (lambda x, y: torch.cat([x, y]), floats(2, 3), floats(1, 3)),
    (lambda x, y: torch.cat([x, y], -1), floats(2, 3), floats(2, 1)),
    (lambda x, y: torch.cat([x, y]), floats(0), floats(2, 3)),
    (lambda x, y: torch.cat([x, y]), floats(0, 3), floats(2, 3)),
    (lambda x: torch.cat([x]), floats(2, 3)),
    (lambda x: torch.cat([x, x, x], 1), floats(2, 3)),
    (lambda x, y: torch.stack([x, y], 1), floats(2, 3), floats(2, 3, seed=8)),
    (lambda x, y: torch.stack([x, y], -1), floats(2, 3), floats(2, 3, seed=8)),
    (lambda x, y: torch.stack([x, y]), scalar(1.0), scalar(2.0)),
    (lambda x, y: torch.hstack([x, y]), floats(2), floats(3)),
    (lambda x, y: torch.hstack([x, y]), floats(2, 1), floats(2, 3)),
    (lambda x, y: torch.vstack([x, y]), floats(3), floats(2, 3)),
    (lambda x, y: torch.dstack([x, y]), floats(2, 3), floats(2, 3)),
    (lambda x, y: torch.column_stack([x, y]), floats(3), floats(3, 2)),
    (lambda x, y: torch.block_diag(x, y), floats(2, 3), floats(1, 2)),
    (lambda x: x.split(2), floats(5, 3)),
    (lambda x: x.split(2, -1), floats(5, 3)),
    (lambda x: torch.split_copy(x, 2), floats(5, 3)),
    (lambda x: torch.split_with_sizes_copy(x, [1, 4]), floats(5, 3)),
    (lambda x: torch.unbind_copy(x), floats(2, 3)),
    (lambda x: x.split([1, 4]), floats(5, 3)),
    (lambda x: x.split([2, 0, 1], 1), floats(5, 3)),
    (lambda x: x.chunk(3), floats(7, 2)),
    (lambda x: x.chunk(2, -1)[1], floats(3, 5)),
    (lambda x: x.chunk(5), floats(3)),
    (lambda x: x[:, :0].chunk(3, 1), floats(3, 2)),
    (lambda x: x[:, :0].chunk(2, 1)[0], floats(3, 2)),
    (lambda x, y: torch._chunk_cat([x, y], 0, 3), floats(4, 3), floats(7, 2)),
    (lambda x, y: torch._chunk_cat([x, y], -1, 2), floats(2, 3), floats(2, 2)),
    (lambda x: torch.tensor_split(x, 3), floats(7, 2)),
    (lambda x: torch.tensor_split(x, (1, 4)), floats(7, 2)),
    (lambda x: torch.tensor_split(x, (-2,), dim=1), floats(2, 5)),
    (lambda x: torch.tensor_split(x, torch.tensor([1, 3])), floats(5, 2)),
    (lambda x: torch.tensor_split(x, torch.tensor(3), 1), floats(2, 7)),
    (lambda x: torch.hsplit(x, 2), floats(3, 4)),
    (lambda x: torch.hsplit(x, (1, -1)), floats(6)),
    (lambda x: torch.vsplit(x, (1, 3)), complexes(4, 4)),
    (lambda x: torch.dsplit(x, 2), ints(3, 4, 4)),
    (lambda x: torch.split_copy(x, 2), floats(5, 2)),
    (lambda x: torch.split_with_sizes_copy(x, [2, x.shape[0] - 2]), floats(5, 2)),
    (lambda x: torch.unsafe_split(x, 2), floats(5, 2)),
    (lambda x: torch.unbind_copy(x), floats(3, 2)),
    (lambda x: torch.hsplit(x, 2), floats(3, 4)),
    (lambda x: torch.vsplit(x, [1]), floats(3, 4)),
    (lambda x: x.unbind(), floats(3, 4)),
    (lambda x: x.unbind(-1), floats(2, 3)),
    (lambda x: x.flip(0), X),
    (lambda x: x.flip((0, -1)), X),
    (lambda x: x.flip(()), X),
    (lambda x: x.flip(0), floats(0, 2)),
    (lambda x: torch.fliplr(x), floats(2, 3)),
    (lambda x: x.roll(1), floats(2, 3)),
    (lambda x: x.roll(-2, 1), floats(2, 3)),
    (lambda x: x.roll((1, 5), (0, 1)), floats(2, 3)),
    (lambda x: x.roll(7, 0), floats(3)),
    (lambda x: torch.rot90(x), floats(2, 3)),
    (lambda x: torch.rot90(x, -1, (1, 2)), X),
    (lambda x: torch.rot90(x, 2), floats(2, 3)),
    (lambda x: x.triu(), floats(3, 4)),
    (lambda x: x.triu(1), floats(3, 4)),
    (lambda x: x.tril(-2), floats(2, 4, 4)),
    (lambda x: x.triu(-1), bools(3, 3)),
    (lambda x: x.tril(), ints(3, 4)),
    (lambda x: x.tril(), floats(3, 3) * torch.inf),
    (lambda x: torch.diag(x), floats(3)),
    (lambda x: torch.diag(x, -1), floats(3)),
    (lambda x: torch.diag(x, 1), floats(3, 4)),
    (lambda x: torch.diag_embed(x), floats(2, 3)),
    (lambda x: torch.diag_embed(x, 1, 0, 2), floats(2, 3)),
    (lambda x: torch.diagflat(x, 1), floats(2, 2)),
    (lambda x: torch.atleast_2d(x), scalar(2.0)),
    (lambda x: torch.atleast_3d(x), floats(2, 3)),
    (lambda x, y: torch.atleast_1d(x, y), scalar(2.0), floats(2)),
    (lambda x, y: torch.atleast_2d([x, y]), floats(2, 3), floats(2)),
    (lambda x, y: torch.atleast_3d(x, y)[1], scalar(2.0), floats(2)),
    (lambda x, y: pad_sequence([x, y, x]), floats(2, 3), floats(4, 3)),
    (lambda x, y: pad_sequence([x, y], True, -1.0, "left"), floats(2, 3), floats(4, 3)),
    (lambda x, y: pad_sequence([x, y], True, 7), ints(2), ints(5)),
    (lambda x: torch.ravel(x), X.transpose(0, 2)),
    (lambda x: x.contiguous(), X.transpose(0, 2)),
    (lambda x: x.clone(memory_format=torch.channels_last), floats(1, 2, 3, 4)),
    (lambda x: x * 2, X.transpose(0, 2)),
    (lambda x: x + 1, floats(1, 3).expand(4, 3)),
    (lambda x: F.pad(x, (1, 2)), floats(2, 3)),
    (lambda x: F.pad(x, (1, 0, 0, 2), value=-1.5), floats(2, 3)),
    (lambda x: F.pad(x, (-1, 1)), floats(2, 3)),
    (lambda x: F.pad(x, (-1, -1)), floats(2, 3)),
    (lambda x: F.pad(x, (1, 1), value=7), ints(2, 3)),
    (lambda x: F.pad(x, (0, 1), value=True), bools(2, 3)),
    (lambda x: F.pad(x, (2, 1), mode="reflect"), floats(1, 2, 5)),
    (lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"), floats(1, 2, 4, 5)),
    (lambda x: F.pad(x, (2, 1), mode="replicate"), floats(1, 2, 3)),
    (lambda x: F.pad(x, (1, 1, 2, 0), mode="replicate"), floats(1, 2, 3, 3)),
    (lambda x: F.pad(x, (1, 1, 1, 1, 1, 1), mode="replicate"), floats(1, 1, 2, 3, 3)),
    (lambda x: F.pad(x, (2, 1), mode="circular"), floats(1, 2, 4)),
    (lambda x: F.pad(x, (1, 2, 0, 1), mode="circular"), floats(1, 2, 3, 4)),
    (lambda x: F.pad(x, (-1, 2), mode="circular"), floats(1, 2, 4)),
    (lambda x: F.pad(x, (-1, 2), mode="replicate"), floats(1, 2, 4)),
    (lambda x: F.pad(x, (-1, 2), mode="reflect"), floats(1, 2, 4)),
    (lambda x: F.pixel_shuffle(x, 2), floats(1, 8, 2, 3)),
    (lambda x: F.pixel_unshuffle(x, 2), floats(1, 2, 4, 6)),
    (lambda x: F.channel_shuffle(x, 3), floats(1, 6, 2, 2)),
    (lambda x: F.unfold(x, (2, 3), padding=1, stride=2), floats(1, 2, 5, 6)),
    (lambda x: F.fold(x, (4, 5), (2, 2)), floats(1, 8, 12)),
    (lambda x: F.fold(x, (4, 4), 2, stride=2, padding=1), floats(1, 8, 9)),
    (lambda x, y: torch.meshgrid(x, y, indexing="ij"), floats(2), floats(3)),
    (lambda x, y: torch.meshgrid(x, y, indexing="xy"), floats(2), floats(3)),
    (lambda x, y: torch.cartesian_prod(x, y), floats(2), floats(3)),
    (lambda x: torch.as_tensor(x.shape), floats(2, 3)),
    (lambda x: x * x.shape[0] + x.numel(), floats(2, 3)),
    (lambda x: x.new_zeros(x.shape[1] * 2, x.shape[0] + 1), floats(2, 3)),
    (lambda x: x.reshape(x.shape[0] // 2, -1), floats(4, 3)),
    (lambda x: x.view(x.shape[0], 1, -1).expand(-1, 2, -1), floats(4, 3)),
    (lambda x: torch.unravel_index(x, (3, 4)), ints(3, low=0, high=12)),
    (lambda x: prims.split_dim(x, 1, 2), floats(3, 6, 5)),
    (lambda x: prims.collapse(x, 0, 1), X),
    (lambda x: prims.collapse_view(x, 1, 2), X),
    (lambda x: prims.squeeze(x, [0, 2]), floats(1, 3, 1)),
    (lambda x: prims.transpose(x, [2, 0, 1]), X),
    (lambda x: prims.broadcast_in_dim(x, [2, 3, 4], [1]), floats(3)),
    (lambda x: prims.broadcast_in_dim(x, [3, 3, 4], [0, 2]), floats(3, 1)),
    (lambda x: prims.view_of(x) + 1, X),
    (lambda x: prims.reshape(x, [4, 6]), X),
    (lambda x: prims.convert_element_type(x, torch.int64), X * 9),
    (lambda x: prims.var(prims.sqrt(prims.exp(x)), [0], correction=1), X),
    (lambda x: (x, x), floats(2)),
    (lambda x: x, floats(2)),
    (lambda x: {"a": x + 1, "b": (x, [x * 2])}, floats(2)),
    (lambda x, y: y, floats(2), floats(3)),
)
def test_shapes(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("sizes", [(7, 2), (4, 2), (2, 2)])
def test_another_number_of_parts_is_no_answer(sizes: tuple[int, int]) -> None:
    """The program has three parts; torch.export guards neither of the sizes that make them."""
    split = Call(lambda x, y: x.split(y.shape[0]))
    captured = capture_module(split, [floats(6), floats(2)], dynamic=True)
    session = Session(exporter().convert(captured, opset=0))
    assert [len(part) for part in session.run([floats(5), floats(2)])] == [2, 2, 1]
    with pytest.raises(RuntimeRefused, match="split"):
        session.run([floats(sizes[0]), floats(sizes[1])])


def test_another_number_of_chunks_is_no_answer() -> None:
    captured = capture_module(Call(lambda x: x.chunk(3)), [floats(6)], dynamic=True)
    session = Session(exporter().convert(captured, opset=0))
    assert [len(part) for part in session.run([floats(8)])] == [3, 3, 2]
    with pytest.raises(RuntimeRefused, match="split"):
        session.run([floats(4)])


def test_one_part_is_no_answer_where_there_are_more() -> None:
    split = Call(lambda x, y: x.split(y.shape[0]))
    captured = capture_module(split, [floats(6), floats(7)], dynamic=True)
    session = Session(exporter().convert(captured, opset=0))
    assert [len(part) for part in session.run([floats(4), floats(5)])] == [4]
    with pytest.raises(RuntimeRefused, match="split"):
        session.run([floats(7), floats(6)])
