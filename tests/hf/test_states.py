"""Decoders whose code loops over tokens, or chunks of them, are exported for one token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import sardonyx
from sardonyx.hf.evaluation.greedy import greedy
from tests.harness.rotation import long_test

from .checkpoints import saved


def small(kind: str) -> Any:
    torch.manual_seed(0)
    if kind == "mamba":
        config = transformers.MambaConfig(
            hidden_size=16, state_size=4, num_hidden_layers=1, vocab_size=100, time_step_rank=4
        )
        return transformers.MambaForCausalLM(config).eval()
    config = transformers.Qwen3NextConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, linear_key_head_dim=8, linear_value_head_dim=8,
        linear_num_key_heads=2, linear_num_value_heads=2, vocab_size=100, num_experts=0,
        layer_types=["linear_attention", "full_attention"], mlp_only_layers=[0, 1],
    )  # fmt: skip
    return transformers.Qwen3NextForCausalLM(config).eval()


@pytest.mark.parametrize("kind", ["mamba", "qwen3_next"])
def test_longer_prompts_than_the_model_s_chunks(kind: str, tmp_path: Path) -> None:
    model = small(kind)
    folder = saved(model, tmp_path / "model")
    report = sardonyx.hf.export(folder, tmp_path / "out")
    # Mamba's code forgets its state where it gets more than one token.
    one_token = kind == "mamba"
    assert report.parts[0].inputs["input_ids"][1] == (1 if one_token else "sequence_length")
    assert any("token by token" in note for note in report.notes) == one_token
    ids = torch.randint(3, 100, (2, 66), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[1, :3] = 0
    got = sardonyx.hf.load(tmp_path / "out").generate(ids, mask, max_new_tokens=4)
    assert torch.equal(got, greedy(model, ids, mask, 4))


def rwkv() -> Any:
    torch.manual_seed(0)
    config = transformers.RwkvConfig(
        vocab_size=50, context_length=64, hidden_size=16, num_hidden_layers=2,
        attention_hidden_size=16, intermediate_size=32, use_cache=False,
    )  # fmt: skip
    model = transformers.RwkvForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return model


@long_test(3)
def test_a_loop_over_tokens_without_a_cache(tmp_path: Path) -> None:
    """RWKV's code goes through the tokens, which write their rows of a tensor."""
    report = sardonyx.hf.export(rwkv(), tmp_path / "out", task="text-generation", verify=True)
    assert report.parts[0].inputs["input_ids"] == ["batch_size", "sequence_length"]
    assert report.notes == []
    assert report.verified["different"] == []


@long_test(2)
def test_a_model_whose_step_is_for_one_row(tmp_path: Path) -> None:
    """Where RWKV's code gets one token, it adds [rows, width] to [rows, 1, width]."""
    model = rwkv()
    report = sardonyx.hf.export(saved(model, tmp_path / "model"), tmp_path / "out")
    assert report.task == "text-generation-with-past"
    assert report.parts[0].inputs["input_ids"] == [1, 1]
    assert "the number of rows for a constant" in report.notes[-1]
    ids = torch.randint(3, 50, (3, 6), generator=torch.Generator().manual_seed(0))
    wanted = greedy(model, ids, torch.ones_like(ids), 8)
    loaded = sardonyx.hf.load(tmp_path / "out")
    assert torch.equal(loaded.generate(ids, max_new_tokens=8), wanted)
    end = int(wanted[0, 8])
    first = loaded.generate(ids[:1], max_new_tokens=8, eos_token_id=end)
    both = loaded.generate(ids[[0, 0]], max_new_tokens=8, eos_token_id=end)
    assert torch.equal(both, first.expand(2, -1))
    assert first[0, -1] == end
