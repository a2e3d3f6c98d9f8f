"""Rotary embeddings as models write them, and capped scores: one operator for each."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
import torch

import sardonyx
from tests.harness import assert_exports

HEADS, SIZE = 2, 8


def halves(x: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def pairs(x: torch.Tensor) -> torch.Tensor:
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


class Turning(torch.nn.Module):
    """`turned` numbers of each head; the heads stand in front of the length, or behind it."""

    def __init__(self, *, interleaved: bool, turned: int, length_first: bool) -> None:
        super().__init__()
        self.interleaved, self.turned, self.length_first = interleaved, turned, length_first
        self.register_buffer("speeds", 10.0 ** -torch.arange(turned // 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = x.view(x.shape[0], x.shape[1], HEADS, SIZE)
        heads = heads if self.length_first else heads.transpose(1, 2)
        angles = torch.arange(x.shape[1])[None, :, None] * self.speeds
        if self.interleaved:
            angles = angles.repeat_interleave(2, dim=-1)
        else:
            angles = torch.cat((angles, angles), dim=-1)
        angles = angles.unsqueeze(2 if self.length_first else 1)
        first, rest = heads[..., : self.turned], heads[..., self.turned :]
        turn = pairs if self.interleaved else halves
        first = first * angles.cos() + turn(first) * angles.sin()
        y = torch.cat((first, rest), dim=-1) if self.turned < SIZE else first
        return y if self.length_first else y.transpose(1, 2)


@pytest.mark.parametrize("length_first", [False, True])
@pytest.mark.parametrize("turned", [4, SIZE])
@pytest.mark.parametrize("interleaved", [False, True])
def test_rotations(interleaved: bool, turned: int, length_first: bool) -> None:
    model = Turning(interleaved=interleaved, turned=turned, length_first=length_first)
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length")
    x = torch.randn(2, 5, HEADS * SIZE)
    shapes = ({0: batch, 1: length},)
    program = sardonyx.export(model, (x,), dynamic_shapes=shapes, opset_version=23).model_proto
    onnx.checker.check_model(program, full_check=True)
    counts = Counter(node.op_type for node in program.graph.node)
    assert counts["RotaryEmbedding"] == 1
    assert not counts.keys() & {"Neg", "Slice", "Split"}
    node = next(node for node in program.graph.node if node.op_type == "RotaryEmbedding")
    attributes = {each.name: each.i for each in node.attribute}
    assert attributes.get("interleaved", 0) == interleaved
    assert attributes.get("rotary_embedding_dim", 0) == (turned if turned < SIZE else 0)
    others = [(torch.randn(1, 1, HEADS * SIZE),), (torch.randn(3, 9, HEADS * SIZE),)]
    for opset in (20, 23):
        made = assert_exports(model, (x,), None, shapes, others, opset_version=opset)
        # Decomposed again, it is two Muls and an Add, with tables that layers share.
        assert made.operators.count("Slice") == 0
        assert made.operators.count("Mul") <= (3 if opset == 20 else 1)


class Capped(torch.nn.Module):
    """Attention whose scores end at 3."""

    def forward(self, x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        q, k, v = x.view(*x.shape[:2], 3, HEADS, SIZE).permute(2, 0, 3, 1, 4)
        scores = 3.0 * torch.tanh(q @ k.transpose(-1, -2) / SIZE**0.5 / 3.0)
        hidden = torch.where(seen[:, None, None, :], 0.0, -1e30)
        return torch.softmax(scores + hidden, dim=-1) @ v


def test_capped_scores() -> None:
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length")
    shapes = ({0: batch, 1: length}, {0: batch, 1: length})
    args = [
        (3 * torch.randn(*size, 3 * HEADS * SIZE), torch.rand(size) > 0.4)
        for size in ((2, 5), (1, 1), (3, 8))
    ]
    program = sardonyx.export(Capped(), args[0], dynamic_shapes=shapes, opset_version=23)
    (attention,) = (n for n in program.model_proto.graph.node if n.op_type == "Attention")
    assert {each.name: each.f for each in attention.attribute}["softcap"] == 3.0
    for opset in (20, 23):
        assert_exports(Capped(), args[0], None, shapes, args[1:], opset_version=opset)


# As models with the length before the heads have it; there and back again is no Reshape.
HALVES = """
<ir_version: 8, opset_import: ["" : 17]>
graph (float[B, S, 2, 8] x, float[B, S, 4] cosines, float[B, S, 4] sines) => (float[B, S, 2, 8] y)
<int64[1] axis = {2}, int64[2] sizes = {4, 4}> {
  c = Unsqueeze(cosines, axis)
  s = Unsqueeze(sines, axis)
  a, b = Split<axis = -1>(x, sizes)
  ac = Mul(a, c)
  bs = Mul(b, s)
  bc = Mul(b, c)
  as = Mul(a, s)
  first = Sub(ac, bs)
  second = Add(bc, as)
  y = Concat<axis = -1>(first, second)
}
"""


@pytest.mark.parametrize(("opset", "most"), [(17, 10), (23, 3)])
def test_halves_turned_apart(opset: int, most: int) -> None:
    before = onnx.parser.parse_model(HALVES)
    after, _ = sardonyx.optimize(before, opset=opset)
    assert len(after.graph.node) <= most
    random = np.random.default_rng(0)
    for batch, length in ((2, 5), (1, 1)):
        feed = {
            name: random.normal(size=(batch, length, *rest)).astype(np.float32)
            for name, rest in {"x": (2, 8), "cosines": (4,), "sines": (4,)}.items()
        }
        want, got = (
            onnxruntime.InferenceSession(each.SerializeToString()).run(None, feed)[0]
            for each in (before, after)
        )
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
