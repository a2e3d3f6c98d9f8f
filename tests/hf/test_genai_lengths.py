"""Prompts of several lengths in one batch, which onnxruntime-genai fills at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime_genai as genai
import pytest
import torch
import transformers

import sardonyx

from .checkpoints import llama_config, saved

STEPS = 20
PROMPTS = [[11, 42, 7, 80, 9, 33], [51, 23, 60, 14]]
NOTE = "prompts of one batch must be of one length"


def llama() -> Any:
    torch.manual_seed(11)  # its likeliest tokens are apart from others
    return transformers.LlamaForCausalLM(llama_config(head_dim=16, max_position_embeddings=64))


def deepseek() -> Any:
    torch.manual_seed(1)
    config = transformers.DeepseekV3Config(
        hidden_size=32, intermediate_size=48, moe_intermediate_size=16, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, n_routed_experts=4, num_experts_per_tok=2,
        n_group=1, topk_group=1, vocab_size=100, kv_lora_rank=8, q_lora_rank=8, qk_rope_head_dim=8,
        qk_nope_head_dim=8, v_head_dim=8, max_position_embeddings=64, first_k_dense_replace=1,
    )  # fmt: skip
    return transformers.DeepseekV3ForCausalLM(config)


def opt() -> Any:
    torch.manual_seed(0)
    config = transformers.OPTConfig(
        hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=2, vocab_size=100,
        max_position_embeddings=64, word_embed_proj_dim=32,
    )  # fmt: skip
    return transformers.OPTForCausalLM(config)


def mpt() -> Any:
    torch.manual_seed(0)
    config = transformers.MptConfig(
        d_model=32, n_heads=2, n_layers=2, vocab_size=100, max_seq_len=64
    )
    return transformers.MptForCausalLM(config)


def gpt_neo() -> Any:
    torch.manual_seed(0)
    config = transformers.GPTNeoConfig(
        hidden_size=32, num_layers=2, attention_types=[[["global", "local"], 1]], num_heads=2,
        vocab_size=100, max_position_embeddings=64, window_size=8, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    return transformers.GPTNeoForCausalLM(config)


def generated(out: Path) -> list[list[int]]:
    running = genai.Model(str(out))
    fill = json.loads((out / "genai_config.json").read_text())["model"]["pad_token_id"]
    length = max(map(len, PROMPTS))
    ids = np.asarray([row + [fill] * (length - len(row)) for row in PROMPTS], dtype=np.int32)
    options = genai.GeneratorParams(running)
    options.set_search_options(max_length=length + STEPS, batch_size=len(ids), do_sample=False)
    generator = genai.Generator(running, options)
    generator.append_tokens(ids)
    while not generator.is_done():
        generator.generate_next_token()
    return [generator.get_sequence(row).tolist()[length:] for row in range(len(ids))]


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (llama, {}),
        (llama, {"static_cache": 48}),
        (llama, {"cache_type": "int8", "cache_prompts": [torch.arange(3, 90)]}),
        (llama, {"split": 2}),
        (deepseek, {}),
        (deepseek, {"split": 2}),
        (opt, {}),
        (opt, {"static_cache": 48}),
    ],
)
def test_each_row_has_the_tokens_of_its_prompt_alone(
    make: Any, options: dict[str, Any], tmp_path: Path
) -> None:
    folder = saved(make().eval(), tmp_path / "model")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    out = tmp_path / "out"
    report = sardonyx.hf.export(folder, out, runtime="onnxruntime-genai", **options)
    assert not any(NOTE in note for note in report.notes)
    for prompt, got in zip(PROMPTS, generated(out), strict=True):
        wanted = model.generate(
            torch.tensor([prompt]), do_sample=False, max_new_tokens=STEPS, pad_token_id=0
        )[0, len(prompt) :].tolist()
        assert got[: len(wanted)] == wanted[: len(got)]


@pytest.mark.parametrize(
    ("make", "options", "why"),
    [
        (llama, {"last_logits": True}, "the logits are those of the last place"),
        (mpt, {}, "takes no position_ids"),
        (gpt_neo, {}, "windows of its attention"),
    ],
)
def test_models_that_count_what_fills_them(
    make: Any, options: dict[str, Any], why: str, tmp_path: Path
) -> None:
    report = sardonyx.hf.export(
        make().eval(), tmp_path / "out", runtime="onnxruntime-genai", **options
    )
    (note,) = [note for note in report.notes if NOTE in note]
    assert why in note
