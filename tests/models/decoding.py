"""Decoders with a key/value cache, and greedy generation through PyTorch and ONNX Runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch.export import Dim
from transformers import DynamicCache
from transformers.integrations.executorch import register_dynamic_cache_export_support

from tests.harness import Inputs, Session

from .example import BATCH, Example, Size, tokens, unsettle
from .transformers_text import decoder_model

# torch.export wants the range of the sum, which the attention mask is as long as.
_PAST = Dim("past", min=2, max=3000)
_SEQUENCE = Dim("sequence", min=2, max=1000)
_TOTAL = Dim("total", min=4, max=4000)


@dataclass(frozen=True)
class CacheShape:
    layers: int
    heads: int
    width: int

    @staticmethod
    def of(config: transformers.PretrainedConfig) -> CacheShape:
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None)
        width = width or config.hidden_size // config.num_attention_heads
        return CacheShape(config.num_hidden_layers, heads, width)

    def pair(self, batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        shape = (batch, self.heads, length, self.width)
        return torch.randn(shape), torch.randn(shape)


def cached_decoder(name: str, size: Size = "small", **settings: Any) -> Example:
    """`input_ids`, `attention_mask` over past and present, `position_ids`, and the cache.

    Further `settings` are the configuration's.
    """
    register_dynamic_cache_export_support()
    torch.manual_seed(4321)
    extra: dict[str, Any] = (
        {"max_position_embeddings": 4000} if size == "small" and name != "gpt2" else {}
    )
    if name == "gpt2":
        extra = {"n_positions": 4000}
    model = decoder_model(name, size, use_cache=True, **extra, **settings)
    if size == "small":
        unsettle(model)
    shape = CacheShape.of(model.config)

    def inputs(batch: int, past: int, sequence: int) -> Inputs:
        cache = DynamicCache(config=model.config)
        for layer in range(shape.layers):
            cache.update(*shape.pair(batch, past), layer)
        positions = torch.arange(past, past + sequence).repeat(batch, 1)
        return Inputs(
            (),
            {
                "input_ids": tokens(batch, sequence),
                "attention_mask": torch.ones(batch, past + sequence, dtype=torch.int64),
                "position_ids": positions,
                "past_key_values": cache,
            },
        )

    per_layer = [{0: BATCH, 2: _PAST}] * shape.layers
    shapes = {
        "input_ids": {0: BATCH, 1: _SEQUENCE},
        "attention_mask": {0: BATCH, 1: _TOTAL},
        "position_ids": {0: BATCH, 1: _SEQUENCE},
        "past_key_values": [per_layer, per_layer],
    }
    return Example(model, inputs(2, 3, 4), shapes, [inputs(3, 6, 2), inputs(1, 5, 1)])


@dataclass(frozen=True)
class Generated:
    ids: torch.Tensor
    # The scores of the last position, step by step.
    scores: list[torch.Tensor]


def generate_eager(
    model: torch.nn.Module, prompt: torch.Tensor, mask: torch.Tensor, steps: int
) -> Generated:
    """Greedy, one token a step, with padding on the left of `prompt` where `mask` is 0."""
    cache = DynamicCache(config=model.config)
    scores: list[torch.Tensor] = []
    ids, fed = prompt, prompt
    for _ in range(steps):
        with torch.no_grad():
            result = model(
                input_ids=fed,
                attention_mask=mask,
                position_ids=_positions(mask, fed.shape[1]),
                past_key_values=cache,
                use_cache=True,
            )
        cache = result.past_key_values
        ids, mask, fed = _chosen(result.logits, ids, mask, scores)
    return Generated(ids, scores)


def generate_in_runtime(
    session: Session,
    config: transformers.PretrainedConfig,
    prompt: torch.Tensor,
    mask: torch.Tensor,
    steps: int,
) -> Generated:
    """As runtimes for language models do: the first step has a past of length 0, and what comes
    out as `present.N.key` goes back in as `past_key_values.N.key`."""
    shape = CacheShape.of(config)
    parts = [f"{layer}.{part}" for layer in range(shape.layers) for part in ("key", "value")]
    empty = torch.empty(prompt.shape[0], shape.heads, 0, shape.width)
    past: dict[str, torch.Tensor] = {f"past_key_values.{part}": empty for part in parts}
    scores: list[torch.Tensor] = []
    ids, fed = prompt, prompt
    for _ in range(steps):
        feed = {
            "input_ids": fed,
            "attention_mask": mask,
            "position_ids": _positions(mask, fed.shape[1]),
            **past,
        }
        values = session.run([feed[name] for name in session.inputs])
        results = dict(zip(session.outputs, values, strict=True))
        past = {f"past_key_values.{part}": results[f"present.{part}"] for part in parts}
        ids, mask, fed = _chosen(results["logits"], ids, mask, scores)
    return Generated(ids, scores)


def left_padded_prompt(config: Any) -> tuple[torch.Tensor, torch.Tensor]:
    prompt = tokens(3, 6, config.vocab_size)
    mask = torch.ones_like(prompt)
    mask[1, :2] = 0
    mask[2, :4] = 0
    return prompt, mask


def _positions(mask: torch.Tensor, length: int) -> torch.Tensor:
    return (mask.cumsum(-1) - 1).clamp_min(0)[:, -length:]


def _chosen(
    logits: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor, scores: list[torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    scores.append(logits[:, -1])
    fed = logits[:, -1:].argmax(-1)
    grown = torch.cat([mask, mask.new_ones(mask.shape[0], 1)], dim=1)
    return torch.cat([ids, fed], dim=1), grown, fed
