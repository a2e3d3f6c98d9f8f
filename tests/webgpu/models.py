"""Small models, each with its inputs by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers

Made = tuple[torch.nn.Module, dict[str, Any]]
IDS = {name: torch.ones(2, 8, dtype=torch.int64) for name in ("input_ids", "attention_mask")}
SIZES: dict[str, Any] = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
}  # fmt: skip


def bert() -> Made:
    return transformers.BertModel(transformers.BertConfig(**SIZES, vocab_size=100)), IDS


def gpt2() -> Made:
    config = transformers.GPT2Config(
        n_embd=64, n_layer=2, n_head=4, vocab_size=100, use_cache=False, bos_token_id=0,
        eos_token_id=0,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config), IDS


class Cached(torch.nn.Module):
    """A decoder of two layers, whose cache is made of tensors."""

    def __init__(self) -> None:
        super().__init__()
        config = transformers.LlamaConfig(**SIZES, num_key_value_heads=2, vocab_size=100)
        self.model = transformers.LlamaForCausalLM(config)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        first: tuple[torch.Tensor, torch.Tensor],
        second: tuple[torch.Tensor, torch.Tensor],
    ) -> tuple[torch.Tensor, ...]:
        cache = transformers.DynamicCache()
        cache.update(*first, 0)
        cache.update(*second, 1)
        result = self.model(input_ids, attention_mask=attention_mask, past_key_values=cache)
        layers = result.past_key_values.layers
        return (result.logits, *(part for each in layers for part in (each.keys, each.values)))


def llama() -> Made:
    first, second = ((torch.randn(2, 2, 5, 16), torch.randn(2, 2, 5, 16)) for _ in range(2))
    mask = torch.ones(2, 8, dtype=torch.int64)
    ids = torch.ones(2, 3, dtype=torch.int64)
    return Cached(), {"input_ids": ids, "attention_mask": mask, "first": first, "second": second}


def vit() -> Made:
    config = transformers.ViTConfig(**SIZES, image_size=32, patch_size=8)
    return transformers.ViTModel(config), {"pixel_values": torch.randn(2, 3, 32, 32)}


def whisper() -> Made:
    config = transformers.WhisperConfig(
        d_model=64, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=128,
        decoder_layers=1, decoder_attention_heads=4, decoder_ffn_dim=128,
        max_source_positions=50, num_mel_bins=16, vocab_size=100, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    encoder = transformers.WhisperModel(config).encoder
    return encoder, {"input_features": torch.randn(2, 16, 100)}


def resnet() -> Made:
    config = transformers.ResNetConfig(
        hidden_sizes=[16, 32], depths=[2, 2], embedding_size=16, layer_type="basic"
    )
    return transformers.ResNetModel(config), {"pixel_values": torch.randn(2, 3, 64, 64)}


MODELS: dict[str, Callable[[], Made]] = {
    "bert": bert, "gpt2": gpt2, "llama": llama, "vit": vit, "whisper": whisper, "resnet": resnet,
}  # fmt: skip
