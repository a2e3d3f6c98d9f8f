"""Mixtures of experts for ONNX Runtime's CUDA provider are one operator, where its CPU provider,
which the answers are checked by, has a kernel for the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx
import pytest
import torch
import transformers

import sardonyx
from sardonyx._runtime.session import open_session

RUNTIME = "onnxruntime-cuda"
SIZES: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "vocab_size": 50,
    "num_local_experts": 5,
    "num_experts_per_tok": 2,
}


class Block(torch.nn.Module):
    """The experts of one layer, with their router."""

    def __init__(self, config: Any, model: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.block = model(config).eval().model.layers[0].mlp
        for parameter in self.block.parameters():
            # Large enough that gates reach their limit.
            torch.nn.init.normal_(parameter, std=0.4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result = self.block(x)
        found: torch.Tensor = result[0] if isinstance(result, tuple) else result
        return found


def gpt_oss(**changes: Any) -> Block:
    config = transformers.GptOssConfig(**{**SIZES, "head_dim": 32, **changes})
    return Block(config, transformers.GptOssForCausalLM)


class OtherRouter(torch.nn.Module):
    """The Softmax of all scores; the chosen ones add up to 1 or not."""

    def __init__(self, block: Block, normalizes: bool) -> None:
        super().__init__()
        self.block, self.normalizes = block.block, normalizes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.reshape(-1, x.shape[-1])
        router = self.block.router
        scores = torch.nn.functional.linear(rows, router.weight, router.bias).softmax(-1)
        weights, chosen = scores.topk(2, -1)
        if self.normalizes:
            weights = weights / weights.sum(-1, keepdim=True)
        found: torch.Tensor = self.block.experts(rows, chosen, weights)
        return found.reshape(x.shape)


def mixtral(**changes: Any) -> Block:
    config = transformers.MixtralConfig(**{**SIZES, **changes})
    return Block(config, transformers.MixtralForCausalLM)


def qwen3(**changes: Any) -> Block:
    sizes = {"num_experts": 5, "moe_intermediate_size": 128, "head_dim": 32, "norm_topk_prob": True}
    config = transformers.Qwen3MoeConfig(**{**SIZES, **sizes, **changes})
    return Block(config, transformers.Qwen3MoeForCausalLM)


def qwen2() -> Block:
    """With an expert that all tokens go to."""
    sizes = {"num_experts": 5, "moe_intermediate_size": 128, "shared_expert_intermediate_size": 64}
    config = transformers.Qwen2MoeConfig(**{**SIZES, **sizes})
    return Block(config, transformers.Qwen2MoeForCausalLM)


def olmoe() -> Block:
    config = transformers.OlmoeConfig(**{**SIZES, "num_experts": 5})
    return Block(config, transformers.OlmoeForCausalLM)


def exported(block: torch.nn.Module, width: int = 64, runtime: Any = RUNTIME) -> Any:
    tokens = torch.export.Dim("tokens", max=512)
    return sardonyx.export(
        block, (torch.randn(1, 5, width),), dynamic_shapes=({1: tokens},), target_runtime=runtime
    )


def kinds(model: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node)


def largest_error(model: onnx.ModelProto, block: torch.nn.Module, width: int = 64) -> float:
    """Relative to the largest number, over some sizes."""
    session = open_session(model.SerializeToString())
    errors = []
    for tokens in (1, 7, 90):
        x = torch.randn(1, tokens, width, generator=torch.Generator().manual_seed(tokens))
        (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        expected = block(x).detach().numpy()
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        errors.append(np.abs(found - expected).max() / np.abs(expected).max())
    return float(max(errors))


@pytest.mark.parametrize("each", [2, 4])
def test_gates_that_alternate_are_one_operator(each: int) -> None:
    block = gpt_oss(num_experts_per_tok=each)
    made = exported(block).model_proto
    onnx.checker.check_model(made)
    assert kinds(made) == {"Reshape": 2, "Gemm": 1, "MoE": 1}
    (experts,) = [node for node in made.graph.node if node.op_type == "MoE"]
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in experts.attribute}
    assert attributes.pop("activation_alpha") == pytest.approx(1.702)
    assert attributes == {
        "k": each,
        "activation_type": b"swiglu",
        "swiglu_fusion": 1,
        "activation_beta": 1.0,
        "swiglu_limit": 7.0,
        "normalize_routing_weights": 1,
    }
    assert largest_error(made, block) < 1e-5


@pytest.mark.parametrize(
    ("make", "nodes", "normalizes"),
    [
        (mixtral, {"Reshape": 2, "Gemm": 1, "MoE": 1}, 1),
        (qwen3, {"Reshape": 2, "Gemm": 1, "MoE": 1}, 1),
        (olmoe, {"Reshape": 2, "Gemm": 1, "MoE": 1}, 0),
        (qwen2, {"Reshape": 2, "Gemm": 5, "MoE": 1, "Sigmoid": 2, "Mul": 3, "Add": 1}, 0),
    ],
)
def test_gates_in_halves_are_put_into_turns(
    make: Any, nodes: dict[str, int], normalizes: int
) -> None:
    block = make()
    made = exported(block).model_proto
    onnx.checker.check_model(made)
    assert kinds(made) == nodes
    (experts,) = [node for node in made.graph.node if node.op_type == "MoE"]
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in experts.attribute}
    assert attributes == {
        "k": 2,
        "activation_type": b"swiglu",
        "swiglu_fusion": 1,
        "activation_alpha": 1.0,
        "activation_beta": 0.0,
        "normalize_routing_weights": normalizes,
    }
    assert largest_error(made, block) < 1e-5


def test_weights_in_turns_are_refreshed() -> None:
    program, other = exported(mixtral()), mixtral()
    for parameter in other.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    program.refresh(other.state_dict())
    assert kinds(program.model_proto)["MoE"] == 1
    assert largest_error(program.model_proto, other) < 1e-5


@pytest.mark.parametrize("normalizes", [True, False])
def test_scores_of_all_experts(normalizes: bool) -> None:
    block = OtherRouter(gpt_oss(), normalizes)
    made = exported(block).model_proto
    (experts,) = [node for node in made.graph.node if node.op_type == "MoE"]
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in experts.attribute}
    assert attributes["normalize_routing_weights"] == normalizes
    assert largest_error(made, block) < 1e-5


def test_experts_of_a_fixed_number_of_tokens() -> None:
    block, x = gpt_oss(), torch.randn(1, 5, 64)
    made = sardonyx.export(block, (x,), target_runtime=RUNTIME).model_proto
    assert kinds(made) == {"Reshape": 2, "Gemm": 1, "MoE": 1}
    (found,) = open_session(made.SerializeToString()).run(None, {"x": x.numpy()})
    np.testing.assert_allclose(found, block(x).detach().numpy(), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("make", [gpt_oss, mixtral])
@pytest.mark.parametrize("to", ["fp16", "bf16"])
def test_experts_in_half_precision(to: Any, make: Any) -> None:
    standard = exported(make(), runtime="standard").model_proto
    made, _ = sardonyx.optimize(standard, runtime=RUNTIME, precision=to)
    assert kinds(made)["MoE"] == 1
    weights = {each.data_type for each in made.graph.initializer if len(each.dims) == 3}
    half = onnx.TensorProto.FLOAT16 if to == "fp16" else onnx.TensorProto.BFLOAT16
    assert weights == {half}


@pytest.mark.parametrize("make", [gpt_oss, mixtral])
def test_experts_in_half_precision_answer_as_pytorch(make: Any) -> None:
    block = make()
    standard = exported(block, runtime="standard").model_proto
    made, _ = sardonyx.optimize(standard, runtime=RUNTIME, precision="fp16")
    session = open_session(made.SerializeToString())
    x = torch.randn(1, 90, 64, generator=torch.Generator().manual_seed(1))
    (found,) = session.run(None, {"x": x.numpy()})
    expected = block(x).detach().numpy()
    # A token whose second and third expert are as good goes to either.
    errors = np.abs(found - expected).max(-1) / np.abs(expected).max()
    assert np.median(errors) < 5e-3
    assert (errors > 2e-2).mean() < 0.05


def test_quantized_weights_in_float32_stay_in_products() -> None:
    """Of the CUDA provider's QMoE there are kernels in float16 and bfloat16 alone."""
    standard = exported(gpt_oss(), runtime="standard").model_proto
    made, report = sardonyx.optimize(standard, runtime=RUNTIME, precision="int4")
    assert kinds(made)["MoE"] == kinds(made)["QMoE"] == 0
    assert kinds(made)["MatMulNBits"] > 5
    (reason,) = [each.reason for each in report.declined if each.rule == "mixture-of-experts"]
    assert reason.startswith("its weights are quantized, which the kernel takes in float16")


@pytest.mark.parametrize("make", [gpt_oss, mixtral])
def test_widths_that_the_kernel_does_not_take_stay_products(make: Any) -> None:
    block = make(hidden_size=32)
    made = exported(block, 32).model_proto
    assert kinds(made)["MoE"] == 0
    assert largest_error(made, block, 32) < 1e-5
