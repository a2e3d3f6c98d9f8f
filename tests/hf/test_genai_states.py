"""Decoders with states, or with more than keys and values, in onnxruntime-genai."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
import transformers

import sardonyx
from tests.architectures.tiny import PROFILES, tiny_config

from .checkpoints import llama, saved
from .test_genai import assert_its_tokens

SMALL = {
    "vocab_size": 100, "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 2,
    "num_key_value_heads": 1, "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2,
    "pad_token_id": 0, "initializer_range": 0.3,
}  # fmt: skip


def bamba() -> Any:
    config = transformers.BambaConfig(
        **SMALL, num_hidden_layers=2, attn_layer_indices=[1], mamba_n_heads=4, mamba_d_head=16,
        mamba_d_state=8, mamba_chunk_size=8,
    )  # fmt: skip
    return transformers.BambaForCausalLM(config)


def lfm2() -> Any:
    config = transformers.Lfm2Config(
        **SMALL, num_hidden_layers=2, layer_types=["conv", "full_attention"], block_dim=32
    )
    return transformers.Lfm2ForCausalLM(config)


def deepseek() -> Any:
    config = transformers.DeepseekV32Config(
        **SMALL | {"num_key_value_heads": 2}, num_hidden_layers=3, moe_intermediate_size=24,
        kv_lora_rank=16, q_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8,
        index_n_heads=2, index_head_dim=16, index_topk=64, first_k_dense_replace=3,
    )  # fmt: skip
    return transformers.DeepseekV32ForCausalLM(config)


def mamba() -> Any:
    config = transformers.MambaConfig(
        vocab_size=100, hidden_size=16, state_size=4, num_hidden_layers=2, time_step_rank=4,
        bos_token_id=1, eos_token_id=2, pad_token_id=0, initializer_range=0.3,
    )  # fmt: skip
    return transformers.MambaForCausalLM(config)


def minimax() -> Any:
    config = transformers.MiniMaxConfig(
        **SMALL, num_hidden_layers=2, layer_types=["linear_attention", "full_attention"],
        num_local_experts=2, num_experts_per_tok=1, head_dim=16, block_size=8,
    )  # fmt: skip
    return transformers.MiniMaxForCausalLM(config)


def exported(model: Any, out: Path, **options: Any) -> Any:
    return sardonyx.hf.export(model, out, runtime="onnxruntime-genai", **options)


def made(make: Any) -> Any:
    torch.manual_seed(0)
    return make().eval()


@pytest.mark.parametrize("make", [bamba, lfm2, deepseek])
def test_prompts_at_once(make: Any, tmp_path: Path) -> None:
    model = made(make)
    report = exported(model, tmp_path / "out", verify=True)
    assert report.verified["equal"] == report.verified["tokens"]
    for batch in (1, 2):
        assert_its_tokens(model, tmp_path / "out", batch)
    has_states = make is not deepseek
    assert any("of one length" in note for note in report.notes) == has_states


@pytest.mark.parametrize("make", [mamba, minimax])
def test_prompts_token_by_token(make: Any, tmp_path: Path) -> None:
    model = made(make)
    report = exported(model, tmp_path / "out")
    assert_its_tokens(model, tmp_path / "out", 1)
    settings = json.loads((tmp_path / "out" / "genai_config.json").read_text())
    assert settings["search"]["chunk_size"] == 1
    assert any("one sequence at a time" in note for note in report.notes)


def test_a_layer_with_one_state_has_nothing_for_the_other(tmp_path: Path) -> None:
    inputs = exported(made(lfm2), tmp_path / "out").parts[0].inputs
    assert inputs["past_key_values.0.conv_state"] == ["batch_size", 32, 3]
    assert inputs["past_key_values.0.recurrent_state"] == ["batch_size", 1]


def test_states_of_no_layer_are_one(tmp_path: Path) -> None:
    inputs = exported(made(minimax), tmp_path / "out").parts[0].inputs
    assert inputs["past_key_values.0.conv_state"] == ["batch_size", 1, 2 * 16 * 16]


def test_keys_of_an_indexer_are_further_layers(tmp_path: Path) -> None:
    """Two of three layers' are a pair, and the third one's are there twice."""
    inputs = exported(made(deepseek), tmp_path / "out").parts[0].inputs
    layers = [name for name in inputs if name.endswith(".key")]
    assert len(layers) == 5
    assert inputs["past_key_values.4.value"] == ["batch_size", 1, "past_sequence_length", 16]


def test_quantized_keys_next_to_states(tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(made(bamba), out, cache_type="int8", cache_prompts=[torch.arange(3, 40)])
    inputs = {
        each.name: each.type.tensor_type for each in onnx.load(out / "model.onnx").graph.input
    }
    types = {name: each.elem_type for name, each in inputs.items()}
    assert types["past_key_values.1.key"] == onnx.TensorProto.INT8
    assert types["past_key_values.0.conv_state"] == onnx.TensorProto.FLOAT


def test_no_draft_with_states(tmp_path: Path) -> None:
    draft = llama(tmp_path / "draft")
    own = saved(made(bamba), tmp_path / "own")
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*the model has states"):
        exported(own, tmp_path / "out", draft=draft)
    with pytest.raises(sardonyx.UsageError, match=r"SX2012.*the draft has states"):
        exported(draft, tmp_path / "out", draft=own)


def test_states_that_are_read_after_they_were_written(tmp_path: Path) -> None:
    """The runtime has one buffer for a state before a token and after it. The last token's state
    takes the place of the former one here, which the layer adds to the tokens, in no given order.
    """
    model = transformers.AutoModelForCausalLM.from_config(tiny_config("zaya", PROFILES[0])).eval()
    exported(model, tmp_path / "out")
    for batch in (1, 2):
        assert_its_tokens(model, tmp_path / "out", batch)
    # Each file of a split model has what it writes.
    exported(model, tmp_path / "parts", split=2)
    assert_its_tokens(model, tmp_path / "parts", 1)


def test_caches_that_are_neither(tmp_path: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_config(tiny_config("xlstm", PROFILES[0]))
    with pytest.raises(sardonyx.ProgramError, match=r"SX2009.*keeps pairs"):
        exported(model.eval(), tmp_path / "out")
