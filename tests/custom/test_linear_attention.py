"""`sardonyx.ops.linear_attention`: a state that every token changes and reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from torch import nn
from torch.nn import functional

import sardonyx
from tests.harness import Session

HEADS, KEY, VALUE = 2, 8, 6
NAMES = ("query", "key", "value", "past", "decay", "beta")
RULES = pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
DYNAMIC: Any = {
    "inputs": tuple({0: "batch"} if n == "past" else {0: "batch", 1: "length"} for n in NAMES)
}


class Recurrence(nn.Module):
    def __init__(self, rule: str, queries: int = HEADS, with_past: bool = True) -> None:
        super().__init__()
        self.options: Any = {"update_rule": rule, "q_num_heads": queries, "kv_num_heads": HEADS}
        self.with_past = with_past

    def forward(self, *inputs: torch.Tensor) -> Any:
        query, key, value, past, decay, beta = inputs
        given = past if self.with_past else None
        return sardonyx.ops.linear_attention(query, key, value, given, decay, beta, **self.options)


def inputs(
    batch: int, length: int, queries: int = HEADS, of_keys: bool = False
) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(length)
    key = functional.normalize(torch.randn(batch, length, HEADS, KEY), dim=-1).flatten(2)
    return (
        torch.randn(batch, length, queries * KEY),
        key,
        torch.randn(batch, length, HEADS * VALUE),
        torch.randn(batch, HEADS, KEY, VALUE),
        -torch.rand(batch, length, HEADS * (KEY if of_keys else 1)),
        torch.rand(batch, length, HEADS),
    )


def compared(model: nn.Module, program: sardonyx.ONNXProgram, given: tuple[Any, ...]) -> None:
    session = Session(program.model_proto.SerializeToString())
    numbers = [int(name.rpartition("_")[2]) for name in session.inputs]
    taken = [given[i] for i in numbers]
    for got, want in zip(session.run(taken), model(*given), strict=True):
        torch.testing.assert_close(torch.as_tensor(got), want, atol=1e-5, rtol=1e-5)


@RULES
@pytest.mark.parametrize("runtime", ["onnxruntime", "onnxruntime-cpu"])
@pytest.mark.parametrize(("queries", "of_keys", "with_past"), [(2, False, True), (4, True, False)])
def test_at_any_length(
    rule: str, runtime: str, queries: int, of_keys: bool, with_past: bool
) -> None:
    model = Recurrence(rule, queries, with_past)
    program = sardonyx.export(
        model, inputs(2, 5, queries, of_keys), dynamic_shapes=DYNAMIC, target_runtime=runtime
    )
    own = [n for n in program.model_proto.graph.node if n.domain == "com.microsoft"]
    assert [n.op_type for n in own] == ["LinearAttention"] * (runtime == "onnxruntime-cpu")
    for batch, length in ((2, 5), (1, 1), (3, 70)):
        compared(model, program, inputs(batch, length, queries, of_keys))


@RULES
def test_one_token_needs_no_loop(rule: str) -> None:
    model = Recurrence(rule)
    program = sardonyx.export(model, inputs(2, 1))
    assert "Scan" not in {n.op_type for n in program.model_proto.graph.node}
    compared(model, program, inputs(2, 1))


@RULES
def test_it_agrees_with_the_definition_of_onnx(rule: str) -> None:
    decays, corrects = rule.startswith("gated"), rule.endswith("delta")
    names = ["query", "key", "value", "past", "decay" * decays, "beta" * corrects]
    given = dict(zip(NAMES, (x.numpy() for x in inputs(2, 4)), strict=True))
    node = onnx.helper.make_node(
        "LinearAttention", names, ["y", "state"], q_num_heads=HEADS, kv_num_heads=HEADS,
        update_rule=rule,
    )  # fmt: skip
    expected = ReferenceEvaluator(node).run(None, {n: given[n] for n in names if n})
    for got, want in zip(Recurrence(rule)(*inputs(2, 4)), expected, strict=True):
        np.testing.assert_allclose(got.numpy(), want, atol=1e-5)


def test_half_precision_is_computed_in_float32() -> None:
    given = tuple(x.half() for x in inputs(2, 40))
    model = Recurrence("gated_delta")
    program = sardonyx.export(model, given, dynamic_shapes=DYNAMIC)
    session = Session(program.model_proto.SerializeToString())
    for got, want in zip(session.run(list(given)), model(*given), strict=True):
        assert torch.as_tensor(got).dtype == torch.float16
        torch.testing.assert_close(torch.as_tensor(got), want, atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"update_rule": "squared"}, "update_rule must be one of"),
        ({"update_rule": "gated"}, "needs decay"),
        ({"update_rule": "gated_delta", "decay": inputs(2, 3)[4]}, "needs beta"),
        ({"update_rule": "delta"}, "needs beta"),
        ({"update_rule": "linear", "q_num_heads": 3}, "a multiple of kv_num_heads"),
    ],
)
def test_what_it_refuses(options: dict[str, Any], message: str) -> None:
    query, key, value, *_ = inputs(2, 3)
    with pytest.raises(RuntimeError, match=message):
        sardonyx.ops.linear_attention(
            query, key, value, **{"q_num_heads": HEADS, "kv_num_heads": HEADS, **options}
        )


@pytest.mark.parametrize(
    ("rule", "given"), [("gated_delta", ""), ("gated", "beta"), ("delta", "decay"), ("squared", "")]
)
def test_a_file_without_what_its_rule_needs_is_refused(
    rule: str, given: str, tmp_path: Path
) -> None:
    tensors = dict(zip(NAMES, inputs(2, 4), strict=True))
    names = [n if n in ("query", "key", "value", given) else "" for n in NAMES]
    node = onnx.helper.make_node(
        "LinearAttention", names, ["y", "state"], q_num_heads=HEADS, kv_num_heads=HEADS,
        update_rule=rule,
    )  # fmt: skip
    infos = [
        onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, tensors[n].shape)
        for n in names
        if n
    ]
    results = [
        onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in node.output
    ]
    graph = onnx.helper.make_graph([node], "g", infos, results)
    opset = onnx.helper.make_opsetid("", 27)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset]), tmp_path / "in.onnx")
    with pytest.raises(sardonyx.OnnxExporterError, match="SX1504"):
        sardonyx.optimize(tmp_path / "in.onnx", tmp_path / "out.onnx", opset=20)
    assert not (tmp_path / "out.onnx").exists()
