"""Layers whose code goes over the experts that tokens chose."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

import sardonyx
from sardonyx.hf.base.experts import all_experts

from .checkpoints import saved


def dbrx() -> transformers.PreTrainedModel:
    """Behind its experts there is one that stands for those of other devices."""
    config = transformers.DbrxConfig(
        d_model=32, n_heads=4, n_layers=2, max_seq_len=64, vocab_size=100,
        attn_config={"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
        ffn_config={"ffn_hidden_size": 24, "moe_num_experts": 5, "moe_top_k": 2},
    )  # fmt: skip
    return transformers.DbrxForCausalLM(config)


def longcat() -> transformers.PreTrainedModel:
    """Some of its experts are none, and it asks whether an expert has tokens."""
    config = transformers.LongcatFlashConfig(
        vocab_size=100, hidden_size=32, ffn_hidden_size=48, expert_ffn_hidden_size=24,
        num_layers=1, num_attention_heads=4, kv_lora_rank=16, q_lora_rank=24, qk_rope_head_dim=8,
        qk_nope_head_dim=8, v_head_dim=8, head_dim=8, n_routed_experts=4, zero_expert_num=2,
        moe_topk=2, max_position_embeddings=64,
    )  # fmt: skip
    return transformers.LongcatFlashForCausalLM(config)


@pytest.mark.parametrize("make", [dbrx, longcat])
def test_all_experts_are_in_the_model(make: object, tmp_path: Path) -> None:
    torch.manual_seed(0)
    folder = saved(make().eval(), tmp_path / "checkpoint")  # type: ignore[operator]
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    assert report.task == "text-generation-with-past"
    assert report.parts[0].inputs["input_ids"] == ["batch_size", "sequence_length"]
    assert report.verified["different"] == []


def test_experts_are_as_they_were() -> None:
    model = dbrx()
    layer = next(m for m in model.modules() if type(m).__name__ == "DbrxExperts")
    with all_experts(model):
        assert "forward" in vars(layer)
    assert "forward" not in vars(layer)
