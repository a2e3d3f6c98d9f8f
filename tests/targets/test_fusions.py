"""Contrib operators: programs that are fused into them give the same answers as before."""

from __future__ import annotations

from collections import Counter

import onnx
import pytest
import torch
from torch.nn import functional

import sardonyx
from sardonyx import _native
from tests.harness import assert_exports

RUNTIME = "onnxruntime-cpu"


def operators(model: torch.nn.Module, *args: torch.Tensor, **options: object) -> Counter[str]:
    program = sardonyx.export(model.eval(), args, target_runtime=RUNTIME, **options)
    onnx.checker.check_model(program.model_proto, full_check=True)
    return Counter(node.op_type for node in program.model_proto.graph.node if node.domain)


class Gates(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        finite = x.clamp(max=1e30)  # PyTorch's Gelu of infinity is NaN on some processors
        return (
            functional.gelu(self.inner(finite)),
            functional.gelu(self.inner(finite.flip(0)), approximate="tanh"),
            functional.silu(x),
            x * torch.sigmoid(1.702 * x),
            functional.gelu(x, approximate="tanh"),
        )


def test_bias_gelu_and_quick_gelu() -> None:
    x = torch.randn(2, 3, 8)
    x[0, 0] = torch.tensor([0.0, -0.0, 1e30, -1e30, float("inf"), -100.0, 100.0, 1e-30])
    batch = torch.export.Dim("batch")
    assert operators(Gates(), x) == {"BiasGelu": 1, "FastGelu": 1, "QuickGelu": 2}
    others = [(torch.randn(5, 3, 8),)]
    assert_exports(Gates(), (x,), None, ({0: batch},), others, target_runtime=RUNTIME)


class Convolutions(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convs = torch.nn.ModuleList(torch.nn.Conv2d(2, 2, 3, padding=1) for _ in range(6))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a, b, c, d, e, f = (conv(x) for conv in self.convs)
        return (
            functional.relu(a),
            functional.leaky_relu(b, 0.3),
            functional.relu6(c),
            torch.sigmoid(d),
            functional.hardsigmoid(e),
            functional.relu(f + x),  # with a sum between it is slower
        )


def test_fused_conv() -> None:
    x = torch.randn(2, 2, 5, 4)
    x[0, 0, 0, :3] = torch.tensor([1e30, float("inf"), -1e30])
    batch, height = torch.export.Dim("batch"), torch.export.Dim("height")
    assert operators(Convolutions(), x) == {"FusedConv": 5}
    others = [(torch.randn(1, 2, 1, 4),), (torch.randn(3, 2, 8, 4),)]
    assert_exports(
        Convolutions(), (x,), None, ({0: batch, 2: height},), others, target_runtime=RUNTIME
    )


class Layer(torch.nn.Module):
    """Attention of an encoder."""

    def __init__(self, *, causal: bool = False) -> None:
        super().__init__()
        self.q, self.k, self.v = (torch.nn.Linear(16, 16) for _ in range(3))
        self.causal = causal

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        heads = [f(x).view(*x.shape[:2], 2, 8).transpose(1, 2) for f in (self.q, self.k, self.v)]
        y = functional.scaled_dot_product_attention(
            *heads, attn_mask=mask, is_causal=self.causal, scale=0.3
        )
        return y.transpose(1, 2).reshape(x.shape)


@pytest.mark.parametrize("causal", [False, True])
def test_packed_attention(causal: bool) -> None:
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length")
    x = torch.randn(2, 5, 16)
    assert operators(Layer(causal=causal), x) == {"Attention": 1}
    assert_exports(
        Layer(causal=causal),
        (x,),
        None,
        ({0: batch, 1: length},),
        [(torch.randn(3, 7, 16),), (torch.randn(1, 1, 16),)],
        target_runtime=RUNTIME,
    )


class Twice(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Layer(), Layer()

    def forward(self, x: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        mask = kept[:, None, None, :].expand(-1, 1, x.shape[1], -1)
        return self.second(self.first(x, mask), mask)


def test_packed_attention_where_nothing_is_to_be_seen() -> None:
    """A row of the mask that is all false gives 0, as in PyTorch."""
    batch, length = torch.export.Dim("batch", max=64), torch.export.Dim("length", max=64)
    args = (torch.randn(3, 5, 16), torch.ones(3, 5, dtype=torch.bool))
    others = (torch.randn(4, 6, 16), torch.rand(4, 6) > 0.5)
    others[1][1] = False
    exported = assert_exports(
        Twice(),
        args,
        None,
        ({0: batch, 1: length}, {0: batch, 1: length}),
        [others],
        target_runtime=RUNTIME,
    )
    assert exported is not None


def test_rows_of_fusions() -> None:
    """Each says what it was measured to take, and only a runtime that users name has any."""
    tables = {table["name"]: table["fusions"] for table in _native.target_tables()}
    named = {
        RUNTIME, "onnxruntime-genai", "onnxruntime-cuda", "onnxruntime-genai-cuda",
        "onnxruntime-genai-webgpu", "onnxruntime-genai-dml", "webgpu",
    }  # fmt: skip
    assert {name for name, fusions in tables.items() if fusions} == named
    for row in (row for name in named for row in tables[name]):
        assert row["measured"], row["name"]
        assert row["since"], row["name"]


def test_weights_that_are_kept_are_not_packed() -> None:
    with pytest.warns(DeprecationWarning, match="do_constant_folding"):
        counts = operators(Layer(), torch.randn(2, 5, 16), do_constant_folding=False)
    assert counts["Attention"] == 0
