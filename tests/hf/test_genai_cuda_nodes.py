"""A decoder for onnxruntime-genai on CUDA has no more nodes than the model builder's, which was run
on an H100: 187 of a Llama of 16 layers, and 99 of one of 8."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
import transformers
from bench.cuda.placing import left_to_the_cpu

import sardonyx.hf

LAYERS = 3


@pytest.mark.parametrize("precision", ["fp16", "fp16+int4"])
def test_nodes_of_a_decoder(precision: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=LAYERS, num_attention_heads=4,
        num_key_value_heads=1, vocab_size=96, max_position_embeddings=64, tie_word_embeddings=False,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval()
    sardonyx.hf.export(
        model, tmp_path / "out", runtime="onnxruntime-genai", provider="cuda", precision=precision
    )
    made = onnx.load(tmp_path / "out" / "model.onnx")
    # The builder's model has 11 nodes in each layer, and 11 others.
    assert len(made.graph.node) == 11 * LAYERS + 9
    assert not left_to_the_cpu(made)


def test_experts_of_a_checkpoint_are_one_node(tmp_path: Path) -> None:
    """Those of a checkpoint in bfloat16, whose weights are cast before they are quantized."""
    torch.manual_seed(0)
    config = transformers.MixtralConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, vocab_size=96, num_local_experts=4, num_experts_per_tok=2,
        max_position_embeddings=64,
    )  # fmt: skip
    model = transformers.MixtralForCausalLM(config).eval().to(torch.bfloat16)
    model.save_pretrained(tmp_path / "checkpoint")
    out = tmp_path / "out"
    sardonyx.hf.export(
        tmp_path / "checkpoint", out, runtime="onnxruntime-genai", provider="cuda",
        precision="fp16+int8",
    )  # fmt: skip
    made = onnx.load(out / "model.onnx")
    kinds = [node.op_type for node in made.graph.node]
    assert kinds.count("QMoE") == config.num_hidden_layers
    assert kinds.count("MatMul") == 0
    assert len(kinds) == 29
    assert not left_to_the_cpu(made)


@pytest.mark.parametrize("provider", ["dml", "webgpu"])
def test_providers_without_bfloat16(provider: str, tmp_path: Path) -> None:
    config = transformers.LlamaConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=1, num_attention_heads=4,
        vocab_size=96, max_position_embeddings=64,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval()
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1505.*nothing in bfloat16"):
        sardonyx.hf.export(
            model, tmp_path / "out", runtime="onnxruntime-genai", provider=provider,
            precision="bf16",
        )  # fmt: skip
    assert not (tmp_path / "out").exists()
