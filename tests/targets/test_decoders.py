"""GroupQueryAttention: decoders made for onnxruntime-genai answer as in PyTorch, in a plain session
that is fed as that runtime feeds them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional

import sardonyx

HEADS, GROUPS, SIZE, MAX = 4, 2, 16, 64
WIDTH = HEADS * SIZE


class Attend(nn.Module):
    """Attention of a decoder as transformers writes it, with a window or none."""

    def __init__(self, window: int | None = None, *, bias: bool = False) -> None:
        super().__init__()
        self.q = nn.Linear(WIDTH, HEADS * SIZE, bias=bias)
        self.k, self.v = (nn.Linear(WIDTH, GROUPS * SIZE, bias=bias) for _ in range(2))
        steps = torch.arange(0, SIZE, 2) / SIZE
        self.register_buffer("frequencies", 1.0 / 100**steps, persistent=False)
        self.window = window

    def turned(self, x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, dim=-1)
        twice = torch.cat([angles, angles], dim=-1)[:, None]
        return x * twice.cos() + torch.cat([-second, first], dim=-1) * twice.sin()

    def forward(
        self,
        x: torch.Tensor,
        attention_mask: torch.Tensor,
        position_ids: torch.Tensor,
        past_key: torch.Tensor,
        past_value: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        batch, length, _ = x.shape
        past = past_key.shape[2]
        places = (torch.arange(length) + past)[:, None]
        seen = torch.arange(past + length)[None] <= places
        if self.window is not None:
            seen = seen & (torch.arange(past + length)[None] > places - self.window)
        mask = seen[None, None] & attention_mask[:, None, None, : past + length].bool()
        angles = position_ids[..., None].float() * self.frequencies
        q = self.q(x).view(batch, length, HEADS, SIZE).transpose(1, 2)
        k, v = (f(x).view(batch, length, GROUPS, SIZE).transpose(1, 2) for f in (self.k, self.v))
        q, k = self.turned(q, angles), self.turned(k, angles)
        keys, values = torch.cat([past_key, k], 2), torch.cat([past_value, v], 2)
        y = functional.scaled_dot_product_attention(
            q, keys, values, attn_mask=mask, enable_gqa=True
        )
        return y.transpose(1, 2).reshape(batch, length, WIDTH), keys, values


def feeds(batch: int, past: int, length: int, behind: int = 0) -> dict[str, torch.Tensor]:
    """`behind`: so many places behind the tokens of the last row hold nothing."""
    mask = torch.ones(batch, past + length, dtype=torch.int64)
    if behind:
        mask[-1, -behind:] = 0
    return {
        "x": torch.randn(batch, length, WIDTH),
        "attention_mask": mask,
        "position_ids": torch.arange(past, past + length).repeat(batch, 1),
        "past_key": torch.randn(batch, GROUPS, past, SIZE),
        "past_value": torch.randn(batch, GROUPS, past, SIZE),
    }


def exported(model: nn.Module, runtime: str = "onnxruntime-genai") -> onnx.ModelProto:
    batch, past, length, total = (
        Dim("batch", max=8),
        Dim("past", max=MAX // 2),
        Dim("length", max=MAX // 2),
        Dim("total", max=MAX),
    )
    shapes = {
        "x": {0: batch, 1: length},
        "attention_mask": {0: batch, 1: total},
        "position_ids": {0: batch, 1: length},
        "past_key": {0: batch, 2: past},
        "past_value": {0: batch, 2: past},
    }
    program = sardonyx.export(
        model.eval(),
        (),
        kwargs=feeds(2, 3, 4),
        dynamic_shapes=shapes,
        input_names=list(shapes),
        output_names=["y", "present_key", "present_value"],
        target_runtime=runtime,
    )
    proto: onnx.ModelProto = program.model_proto
    onnx.checker.check_model(proto, full_check=True)
    return proto


def counts(model: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node)


def session(model: onnx.ModelProto, *, optimized: bool = True) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimized:
        level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.graph_optimization_level = level
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(running: onnxruntime.InferenceSession, given: dict[str, torch.Tensor]) -> list[Any]:
    names = {each.name for each in running.get_inputs()}
    return running.run(None, {k: v.numpy() for k, v in given.items() if k in names})


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("window", [None, 3])
def test_answers_are_pytorch_s(window: int | None, bias: bool) -> None:
    torch.manual_seed(0)
    model = Attend(window, bias=bias)
    made = exported(model)
    found = counts(made)
    assert found["GroupQueryAttention"] == 1
    assert found["MatMul"] == 1, "queries, keys and values are one product"
    assert found["RotaryEmbedding"] == found["Attention"] == 0
    assert "position_ids" not in [each.name for each in made.graph.input]
    for optimized in (True, False):
        running = session(made, optimized=optimized)
        for sizes in ((1, 0, 1), (2, 0, 6), (1, 5, 4), (3, 7, 1), (1, 30, 1)):
            given = feeds(*sizes)
            with torch.no_grad():
                wanted = model(**given)
            for got, want in zip(run(running, given), wanted, strict=True):
                np.testing.assert_allclose(got, want.numpy(), rtol=1e-4, atol=1e-5)


class Neighbors(Attend):
    """Turns pairs of neighbors."""

    def turned(self, x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        twice = angles.repeat_interleave(2, dim=-1)[:, None]
        pairs = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2)
        return x * twice.cos() + pairs * twice.sin()


def test_neighbors_are_turned_inside() -> None:
    torch.manual_seed(0)
    model = Neighbors()
    made = exported(model)
    assert counts(made)["GroupQueryAttention"] == 1
    assert counts(made)["RotaryEmbedding"] == 0
    running = session(made)
    for sizes in ((1, 0, 3), (3, 7, 1)):
        given = feeds(*sizes)
        with torch.no_grad():
            wanted = model(**given)
        for got, want in zip(run(running, given), wanted, strict=True):
            np.testing.assert_allclose(got, want.numpy(), rtol=1e-4, atol=1e-5)


def test_rows_that_end_early() -> None:
    """What is behind a row's tokens is nobody's: tokens in front of it answer as in PyTorch."""
    torch.manual_seed(0)
    model = Attend()
    given = feeds(2, 0, 6, behind=2)
    with torch.no_grad():
        wanted = model(**given)[0].numpy()
    got = run(session(exported(model)), given)[0]
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got[1, :4], wanted[1, :4], rtol=1e-4, atol=1e-5)


def test_past_and_present_in_one_buffer() -> None:
    torch.manual_seed(0)
    model = Attend()
    running = session(exported(model))
    given = feeds(2, 5, 1)
    with torch.no_grad():
        wanted = [each.numpy() for each in model(**given)]
    binding = running.io_binding()
    binding.bind_output("y")
    buffers = []
    for name in ("past_key", "past_value"):
        room = np.full((2, GROUPS, 20, SIZE), np.nan, np.float32)
        room[:, :, :5] = given[name].numpy()
        buffers.append(onnxruntime.OrtValue.ortvalue_from_numpy(room))
        binding.bind_ortvalue_input(name, buffers[-1])
        binding.bind_ortvalue_output(name.replace("past", "present"), buffers[-1])
    for name in ("x", "attention_mask"):
        binding.bind_cpu_input(name, given[name].numpy())
    running.run_with_iobinding(binding)
    np.testing.assert_allclose(binding.get_outputs()[0].numpy(), wanted[0], rtol=1e-4, atol=1e-5)
    for buffer, present in zip(buffers, wanted[1:], strict=True):
        np.testing.assert_allclose(buffer.numpy()[:, :, :6], present, rtol=1e-4, atol=1e-5)


def test_other_runtimes_may_be_fed_anything() -> None:
    """Padding in front of a row, as transformers pads prompts."""
    torch.manual_seed(0)
    model = Attend()
    made = exported(model, "onnxruntime-cpu")
    assert counts(made)["GroupQueryAttention"] == 0
    given = feeds(2, 3, 4)
    given["attention_mask"][1, :2] = 0
    given["position_ids"][1] -= 2
    with torch.no_grad():
        wanted = model(**given)
    for got, want in zip(run(session(made), given), wanted, strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-4, atol=1e-5)
