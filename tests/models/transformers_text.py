"""Encoders, decoders and sequence-to-sequence models for text and speech, from transformers."""

from __future__ import annotations

from typing import Any

import torch
import transformers

from tests.harness import Inputs

from .example import BATCH, ZOO, Example, Size, padding_mask, rows, tokens

_OTHER_SIZES = ((3, 11), (1, 5))

_SMALL_ENCODER = {
    "vocab_size": 99,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "max_position_embeddings": 64,
}


def _encoder(
    model: transformers.PreTrainedModel, size: Size, *, token_types: bool = False
) -> Example:
    def inputs(batch: int, length: int) -> Inputs:
        kwargs = {
            "input_ids": tokens(batch, length),
            "attention_mask": padding_mask(batch, length),
        }
        if token_types:
            kwargs["token_type_ids"] = torch.arange(length).ge(length // 2).long().repeat(batch, 1)
        return Inputs((), kwargs)

    first = inputs(2, 7) if size == "small" else inputs(2, 128)
    longest = getattr(model.config, "max_position_embeddings", 512)
    shapes = dict.fromkeys(first.kwargs, rows(longest))
    return Example(model, first, shapes, [inputs(*sizes) for sizes in _OTHER_SIZES])


@ZOO.add("bert")
def bert(size: Size) -> Example:
    small = _SMALL_ENCODER if size == "small" else {}
    model = transformers.BertModel(transformers.BertConfig(**small))
    return _encoder(model, size, token_types=True)


@ZOO.add("distilbert")
def distilbert(size: Size) -> Example:
    small = {"vocab_size": 99, "dim": 32, "hidden_dim": 37, "n_layers": 2, "n_heads": 4}
    config = transformers.DistilBertConfig(**(small if size == "small" else {}))
    return _encoder(transformers.DistilBertForSequenceClassification(config), size)


@ZOO.add("roberta")
def roberta(size: Size) -> Example:
    published = {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1}
    config = transformers.RobertaConfig(**(_SMALL_ENCODER if size == "small" else published))
    return _encoder(transformers.RobertaForMaskedLM(config), size)


_SMALL_DECODER = {
    "vocab_size": 99,
    "hidden_size": 32,
    "intermediate_size": 37,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}

# Llama 3.2 1B; the others at the sizes their configurations have by default, with layers cut so
# that the weights fit in memory beside a copy (Mistral 7B and the like).
_FULL_DECODER: dict[str, dict[str, Any]] = {
    "llama": {
        "vocab_size": 128256,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "max_position_embeddings": 131072,
        "tie_word_embeddings": True,
    },
    "mistral": {"num_hidden_layers": 2},
    "qwen2": {
        "vocab_size": 151936,
        "hidden_size": 896,
        "intermediate_size": 4864,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "tie_word_embeddings": True,
    },
    "qwen3": {
        "vocab_size": 151936,
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "tie_word_embeddings": True,
    },
    "gemma": {"num_hidden_layers": 2},
    "phi": {"num_hidden_layers": 4},
    "gpt2": {},
}


def decoder_model(name: str, size: Size, **extra: Any) -> transformers.PreTrainedModel:
    """A causal language model; without `use_cache=True` it returns logits only."""
    kinds: dict[str, tuple[Any, Any]] = {
        "gpt2": (transformers.GPT2Config, transformers.GPT2LMHeadModel),
        "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
        "mistral": (transformers.MistralConfig, transformers.MistralForCausalLM),
        "qwen2": (transformers.Qwen2Config, transformers.Qwen2ForCausalLM),
        "qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
        "gemma": (transformers.GemmaConfig, transformers.GemmaForCausalLM),
        "phi": (transformers.PhiConfig, transformers.PhiForCausalLM),
    }
    config_class, model_class = kinds[name]
    settings = dict(_FULL_DECODER[name] if size == "full" else _SMALL_DECODER)
    if size == "small" and name == "gpt2":
        sizes = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
        settings = {**sizes, "bos_token_id": 1, "eos_token_id": 2}
    if size == "small" and name in ("gemma", "qwen3"):
        settings["head_dim"] = 8
    settings = {"use_cache": False, **settings, **extra}
    return model_class(config_class(**settings)).eval()


def _decoder(name: str, size: Size) -> Example:
    return _encoder(decoder_model(name, size), size)


@ZOO.add("gpt2")
def gpt2(size: Size) -> Example:
    return _decoder("gpt2", size)


@ZOO.add("llama")
def llama(size: Size) -> Example:
    return _decoder("llama", size)


@ZOO.add("mistral")
def mistral(size: Size) -> Example:
    # A window shorter than the rows, or it would hide nothing.
    window = {"sliding_window": 4} if size == "small" else {}
    return _encoder(decoder_model("mistral", size, **window), size)


@ZOO.add("qwen2")
def qwen2(size: Size) -> Example:
    return _decoder("qwen2", size)


@ZOO.add("qwen3")
def qwen3(size: Size) -> Example:
    return _decoder("qwen3", size)


@ZOO.add("gemma")
def gemma(size: Size) -> Example:
    return _decoder("gemma", size)


@ZOO.add("phi")
def phi(size: Size) -> Example:
    return _decoder("phi", size)


def _sequence_to_sequence(model: transformers.PreTrainedModel, size: Size) -> Example:
    def inputs(batch: int, length: int, target: int) -> Inputs:
        return Inputs(
            (),
            {
                "input_ids": tokens(batch, length),
                "attention_mask": padding_mask(batch, length),
                "decoder_input_ids": tokens(batch, target),
            },
        )

    first = inputs(2, 7, 5) if size == "small" else inputs(2, 128, 32)
    source = rows(64 if size == "small" else 512)
    shapes = {
        "input_ids": source,
        "attention_mask": source,
        "decoder_input_ids": rows(64 if size == "small" else 512, "target"),
    }
    return Example(model, first, shapes, [inputs(3, 11, 4), inputs(1, 5, 9)])


@ZOO.add("t5")
def t5(size: Size) -> Example:
    small = {
        "vocab_size": 99,
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 37,
        "num_layers": 2,
        "num_heads": 4,
        "decoder_start_token_id": 0,
    }
    config = transformers.T5Config(use_cache=False, **(small if size == "small" else {}))
    return _sequence_to_sequence(transformers.T5ForConditionalGeneration(config), size)


@ZOO.add("bart")
def bart(size: Size) -> Example:
    small = {
        "vocab_size": 99,
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 37,
        "decoder_ffn_dim": 37,
        "max_position_embeddings": 64,
    }
    config = transformers.BartConfig(use_cache=False, **(small if size == "small" else {}))
    return _sequence_to_sequence(transformers.BartForConditionalGeneration(config), size)


@ZOO.add("whisper")
def whisper(size: Size) -> Example:
    """Sound features of fixed length, as the model asks; batch and target vary."""
    small = {
        "vocab_size": 99,
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 37,
        "decoder_ffn_dim": 37,
        "num_mel_bins": 16,
        "max_source_positions": 30,
        "max_target_positions": 40,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 1,
    }
    config = transformers.WhisperConfig(use_cache=False, **(small if size == "small" else {}))
    frames = 2 * config.max_source_positions

    def inputs(batch: int, target: int) -> Inputs:
        features = torch.randn(batch, config.num_mel_bins, frames)
        return Inputs((), {"input_features": features, "decoder_input_ids": tokens(batch, target)})

    shapes = {"input_features": {0: BATCH}, "decoder_input_ids": rows(40)}
    first = inputs(2, 7) if size == "small" else inputs(2, 16)
    model = transformers.WhisperForConditionalGeneration(config)
    return Example(model, first, shapes, [inputs(3, 4), inputs(1, 9)])
