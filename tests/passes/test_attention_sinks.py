"""Attention with sinks, as GPT-OSS computes it: a logit of each head beside the scores."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx


class Layer(nn.Module):
    def __init__(self, window: int = 0) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, 64), nn.Linear(16, 32), nn.Linear(16, 32)
        self.sinks = nn.Parameter(torch.tensor([0.5, -1.0, 3.0, 0.0]))
        self.window = window

    def forward(
        self, x: torch.Tensor, past_k: torch.Tensor, past_v: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        batch, length, _ = x.shape
        query = self.q(x).view(batch, length, 4, 16).transpose(1, 2)
        key = torch.cat([past_k, self.k(x).view(batch, length, 2, 16).transpose(1, 2)], 2)
        value = torch.cat([past_v, self.v(x).view(batch, length, 2, 16).transpose(1, 2)], 2)
        past, keys = past_k.shape[2], key.shape[2]
        at = torch.arange(length)[:, None] + past
        seen = torch.arange(keys) <= at
        if self.window:
            seen = seen & (torch.arange(keys) > at - self.window)
        mask = torch.where(seen[None, None], 0.0, torch.finfo(torch.float32).min)
        wide = (batch, 2, 2, keys, 16)
        k, v = (each[:, :, None].expand(wide).reshape(batch, 4, keys, 16) for each in (key, value))
        scores = torch.matmul(query, k.transpose(2, 3)) * 0.25 + mask
        sinks = self.sinks.reshape(1, -1, 1, 1).expand(batch, -1, length, -1)
        both = torch.cat([scores, sinks], -1)
        both = both - both.max(dim=-1, keepdim=True).values
        shares = torch.softmax(both, -1, dtype=both.dtype)[..., :-1]
        y = torch.matmul(shares, v).transpose(1, 2).reshape(batch, length, 64)
        return y, key, value


@pytest.mark.parametrize(
    ("runtime", "opset", "batch", "op"),
    [
        ("onnxruntime", 20, 2, "MatMul"),
        ("standard", 23, 2, "Attention"),
        ("onnxruntime-cpu", 23, 1, "GroupQueryAttention"),
    ],
)
@pytest.mark.parametrize("window", [0, 3])
def test_sinks(runtime: str, opset: int, batch: int, op: str, window: int) -> None:
    layer = Layer(window).eval()
    length, past = Dim("length"), Dim("past")
    free = {0: Dim("batch")} if batch > 1 else {}
    cache = {**free, 2: past}
    program = sardonyx.export(
        layer,
        (torch.randn(batch, 5, 16), torch.randn(batch, 2, 3, 16), torch.randn(batch, 2, 3, 16)),
        dynamic_shapes=({**free, 1: length}, cache, cache),
        target_runtime=runtime,
        opset_version=opset,
    )
    ops = [node.op_type for node in program.model_proto.graph.node]
    assert op in ops
    assert not {"ArgMax", "ReduceMax", "Sub"} & set(ops[ops.index("Pad") :] if "Pad" in ops else [])
    for size, before in ((1, 7), (6, 0), (4, 9)):
        caches = [torch.randn(batch, 2, before, 16) for _ in range(2)]
        given = (torch.randn(batch, size, 16), *caches)
        for got, want in zip(program(*given), layer(*given), strict=True):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
