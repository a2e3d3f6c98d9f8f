"""The models, of the sizes that people run on GPUs, or small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from tests.models.unet import UNet
from torch import nn
from torch.export import Dim

_TEXT: dict[bool, dict[str, Any]] = {
    False: {
        "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "vocab_size": 30522,
    },
    True: {
        "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 128, "vocab_size": 100,
    },
}  # fmt: skip
_NAMES = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
_PICTURE = {False: {"image_size": 224}, True: {"image_size": 32}}


@dataclass
class Subject:
    """A model with the inputs of a batch, and its dynamic dimensions by input."""

    model: nn.Module
    inputs: Callable[[int], dict[str, torch.Tensor]]
    free: dict[str, dict[int, Any]]
    kind: str = ""  # as ONNX Runtime's optimizer for transformers calls it; empty: it knows none


class _Text(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.model(input_ids, attention_mask=attention_mask)[0]
        return result


class _Picture(nn.Module):
    def __init__(self, model: nn.Module, name: str) -> None:
        super().__init__()
        self.model, self.name = model, name

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.model(**{self.name: pixels})[0]
        return result


def _text(model: nn.Module, small: bool, kind: str = "") -> Subject:
    length = 16 if small else 128
    batch, tokens = Dim("batch"), Dim("length", max=512)
    return Subject(
        _Text(model),
        lambda rows: {
            name: torch.ones(rows, length, dtype=torch.int64)
            for name in ("input_ids", "attention_mask")
        },
        {name: {0: batch, 1: tokens} for name in ("input_ids", "attention_mask")},
        kind,
    )


def _picture(model: nn.Module, shape: tuple[int, ...], kind: str, name: str) -> Subject:
    generator = torch.Generator().manual_seed(0)
    return Subject(
        _Picture(model, name),
        lambda rows: {"pixels": torch.randn(rows, *shape, generator=generator)},
        {"pixels": {0: Dim("batch")}},
        kind,
    )


def _bert(small: bool) -> Subject:
    config = transformers.BertConfig(**_TEXT[small])
    return _text(transformers.BertModel(config, add_pooling_layer=False), small, "bert")


def _gpt2(small: bool) -> Subject:
    size = _TEXT[small]
    config = transformers.GPT2Config(
        n_embd=size["hidden_size"], n_layer=size["num_hidden_layers"],
        n_head=size["num_attention_heads"], vocab_size=size["vocab_size"], use_cache=False,
        **_NAMES,
    )  # fmt: skip
    return _text(transformers.GPT2LMHeadModel(config), small, "gpt2")


def _llama(small: bool) -> Subject:
    size = dict(_TEXT[small], use_cache=False, **_NAMES)
    if not small:
        size |= {"hidden_size": 1024, "intermediate_size": 2816, "num_attention_heads": 16}
    config = transformers.LlamaConfig(**size, num_key_value_heads=4)
    return _text(transformers.LlamaForCausalLM(config), small)


def _t5(small: bool) -> Subject:
    size = _TEXT[small]
    heads = size["num_attention_heads"]
    config = transformers.T5Config(
        d_model=size["hidden_size"], d_ff=size["intermediate_size"], num_heads=heads,
        d_kv=size["hidden_size"] // heads, num_layers=size["num_hidden_layers"],
        vocab_size=size["vocab_size"], use_cache=False, decoder_start_token_id=0,
    )  # fmt: skip
    return _text(transformers.T5EncoderModel(config), small, "t5")


def _vit(small: bool) -> Subject:
    size = dict(_TEXT[small])
    del size["vocab_size"]
    pixels = _PICTURE[small]["image_size"]
    config = transformers.ViTConfig(**size, image_size=pixels, patch_size=8 if small else 16)
    model = transformers.ViTModel(config, add_pooling_layer=False)
    return _picture(model, (3, pixels, pixels), "vit", "pixel_values")


def _swin(small: bool) -> Subject:
    size: dict[str, Any] = (
        {"embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4, "patch_size": 2}
        if small
        else {}
    )
    pixels = _PICTURE[small]["image_size"]
    config = transformers.SwinConfig(**size, image_size=pixels)
    model = transformers.SwinModel(config, add_pooling_layer=False)
    return _picture(model, (3, pixels, pixels), "swin", "pixel_values")


def _whisper(small: bool) -> Subject:
    size = _TEXT[small]
    frames, bands = (50, 16) if small else (1500, 80)
    config = transformers.WhisperConfig(
        d_model=size["hidden_size"], encoder_layers=size["num_hidden_layers"],
        encoder_attention_heads=size["num_attention_heads"],
        encoder_ffn_dim=size["intermediate_size"], decoder_layers=1, decoder_attention_heads=4,
        decoder_ffn_dim=64, max_source_positions=frames, num_mel_bins=bands, vocab_size=100,
        decoder_start_token_id=1, **_NAMES,
    )  # fmt: skip
    encoder = transformers.WhisperModel(config).encoder
    return _picture(encoder, (bands, 2 * frames), "", "input_features")


def _unet(small: bool) -> Subject:
    width, side, context, groups = (32, 8, 16, 8) if small else (320, 64, 768, 32)
    batch = Dim("batch")

    def inputs(rows: int) -> dict[str, torch.Tensor]:
        generator = torch.Generator().manual_seed(0)
        return {
            "x": torch.randn(rows, 4, side, side, generator=generator),
            "t": torch.full((rows,), 500, dtype=torch.int64),
            "context": torch.randn(rows, 8 if small else 77, context, generator=generator),
        }

    free = {name: {0: batch} for name in ("x", "t", "context")}
    return Subject(UNet(width, context, groups), inputs, free, "unet")


MODELS: dict[str, Callable[[bool], Subject]] = {
    "bert": _bert, "gpt2": _gpt2, "llama": _llama, "vit": _vit, "swin": _swin,
    "whisper": _whisper, "t5": _t5, "unet": _unet,
}  # fmt: skip


def subject(name: str, *, small: bool) -> Subject:
    torch.manual_seed(0)
    made = MODELS[name](small)
    made.model.eval()
    return made
