"""Checkpoints with random weights, of the sizes that people run on processors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers

# Of 201 M parameters each, or a little more.
_SIZES = {
    "vocab_size": 32000,
    "hidden_size": 1024,
    "intermediate_size": 2816,
    "num_hidden_layers": 12,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "max_position_embeddings": 2048,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
MODELS: dict[str, dict[str, Any]] = {
    "llama": {"tie_word_embeddings": False},
    "qwen3": {"head_dim": 64, "tie_word_embeddings": False},
    "gemma": {"head_dim": 64},
    "phi3": {},
}
_SMALL = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "vocab_size": 300}
_SMALL_HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2}


def make_checkpoint(name: str, folder: Path, *, small: bool) -> None:
    """With a tokenizer of bytes, which the model builder asks for."""
    torch.manual_seed(0)
    settings = {**_SIZES, **MODELS[name]}
    if small:
        settings |= {**_SMALL, **_SMALL_HEADS}
        if "head_dim" in settings:
            settings["head_dim"] = 16
    config = transformers.AutoConfig.for_model(name, **settings)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    model.save_pretrained(folder)
    _tokenizer().save_pretrained(folder)


def _tokenizer() -> transformers.PreTrainedTokenizerFast:
    from tokenizers import Tokenizer, decoders, models

    special = ("<pad>", "<s>", "</s>")
    words = [*special, *(f"<0x{byte:02X}>" for byte in range(256))]
    vocabulary = {word: position for position, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True))
    tokenizer.decoder = decoders.ByteFallback()
    names = dict(zip(("pad_token", "bos_token", "eos_token"), special, strict=True))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
