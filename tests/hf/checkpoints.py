"""Small checkpoints, as save_pretrained() writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers

from tests.models.example import unsettle


def llama_config(**more: Any) -> transformers.LlamaConfig:
    settings: dict[str, Any] = {
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 100,
    }
    return transformers.LlamaConfig(**settings | more)


def saved(model: torch.nn.Module, folder: Path, **options: Any) -> Path:
    """With weights wide enough that greedy tokens vary."""
    with torch.no_grad():
        unsettle(model)
    model.save_pretrained(folder, **options)
    return folder


def llama(folder: Path, dtype: torch.dtype = torch.float32, seed: int = 0, **options: Any) -> Path:
    torch.manual_seed(seed)
    tied = options.pop("tie_word_embeddings", False)
    model = transformers.LlamaForCausalLM(llama_config(tie_word_embeddings=tied)).to(dtype)
    return saved(model, folder, **options)


def bert(folder: Path, kind: str = "ForSequenceClassification", seed: int = 0) -> Path:
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        vocab_size=100, max_position_embeddings=64,
    )  # fmt: skip
    return saved(getattr(transformers, f"Bert{kind}")(config).eval(), folder)


def t5(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    config = transformers.T5Config(
        d_model=32, d_ff=48, d_kv=8, num_layers=2, num_heads=4, vocab_size=100,
        decoder_start_token_id=0,
    )  # fmt: skip
    return saved(transformers.T5ForConditionalGeneration(config).eval(), folder)


def mixtral(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    config = transformers.MixtralConfig(
        hidden_size=64, intermediate_size=96, num_hidden_layers=1, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=100, num_local_experts=3,
    )  # fmt: skip
    return saved(transformers.MixtralForCausalLM(config).eval(), folder)
