"""Decoders from a folder: weights, caches, names, and the same tokens as PyTorch's."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
import torch
import transformers

import sardonyx

from .checkpoints import llama, llama_config, saved


def test_a_llama_of_tied_bfloat16_shards(tmp_path: Path) -> None:
    folder = llama(
        tmp_path / "llama", torch.bfloat16, tie_word_embeddings=True, max_shard_size="60KB"
    )
    assert len(list(folder.glob("*.safetensors"))) > 1
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    assert report.task == "text-generation-with-past"
    assert report.verified == {"tokens": 40, "equal": 40, "different": []}
    assert json.loads((tmp_path / "out" / "sardonyx.json").read_text())["opset"] == report.opset
    assert (tmp_path / "out" / "config.json").is_file()
    parts = [f"{layer}.{kind}" for layer in range(2) for kind in ("key", "value")]
    (part,) = report.parts
    assert list(part.inputs) == [
        "input_ids", "attention_mask", "position_ids", *(f"past_key_values.{p}" for p in parts)
    ]  # fmt: skip
    assert list(part.outputs) == ["logits", *(f"present.{p}" for p in parts)]
    assert part.inputs["past_key_values.0.key"] == ["batch_size", 2, "past_sequence_length", 16]
    assert part.outputs["logits"] == ["batch_size", "sequence_length", 100]
    model = onnx.load(tmp_path / "out" / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    # A tied weight is there once.
    assert sum(100 in each.dims for each in model.graph.initializer) == 1


def test_experts_that_checkpoints_have_one_by_one(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.Qwen3MoeConfig(
        hidden_size=32, intermediate_size=48, moe_intermediate_size=24, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=8, num_experts=4,
        num_experts_per_tok=2, vocab_size=100,
    )  # fmt: skip
    folder = saved(transformers.Qwen3MoeForCausalLM(config).eval(), tmp_path / "moe")
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    assert report.verified["equal"] == 40
    assert any("computed of several tensors" in note for note in report.notes)
    assert not list((tmp_path / "out").glob(".*"))


def test_a_model_in_memory(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(llama_config(num_hidden_layers=1)).eval()
    report = sardonyx.hf.export(model, tmp_path / "out", task="text-generation")
    assert list(report.parts[0].inputs) == ["input_ids", "attention_mask"]
    ids = torch.randint(0, 100, (3, 9))
    got = sardonyx.hf.load(tmp_path / "out")(input_ids=ids, attention_mask=torch.ones_like(ids))
    with torch.no_grad():
        torch.testing.assert_close(got["logits"], model(ids).logits, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("precision", ["fp16", "int4", "fp16+int4"])
def test_fewer_bits(precision: str, tmp_path: Path) -> None:
    folder = llama(tmp_path / "llama", torch.bfloat16)
    sardonyx.hf.export(folder, tmp_path / "whole")
    report = sardonyx.hf.export(
        folder, tmp_path / "out", precision=precision, runtime="onnxruntime-cpu"
    )
    types = {i.type for i in sardonyx.hf.load(tmp_path / "out").session("model").get_inputs()}
    assert ("tensor(float16)" in types) == ("fp16" in precision)
    sizes = [(tmp_path / name / "model.onnx").stat().st_size for name in ("out", "whole")]
    assert sizes[0] < 0.6 * sizes[1]
    assert report.precision == precision
    ids = torch.randint(3, 100, (2, 5))
    made = [
        sardonyx.hf.load(tmp_path / n).generate(ids, max_new_tokens=3) for n in ("out", "whole")
    ]
    assert made[0].shape == made[1].shape == (2, 8)


def test_a_model_without_a_cache(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.OpenAIGPTConfig(
        n_embd=32, n_layer=1, n_head=4, vocab_size=100, n_positions=64
    )
    folder = saved(transformers.OpenAIGPTLMHeadModel(config).eval(), tmp_path / "model")
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    assert report.task == "text-generation"
    assert any("neither takes nor returns a cache" in note for note in report.notes)
    assert report.verified["different"] == []
    with pytest.raises(sardonyx.ProgramError, match="SX2009"):
        sardonyx.hf.export(folder, tmp_path / "other", task="text-generation-with-past")
