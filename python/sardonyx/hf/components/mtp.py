"""A head for multi-token prediction as a part of its own, as onnxruntime-genai runs it."""

from __future__ import annotations

from typing import Any

import torch

from sardonyx._transformers_private.caches import new_cache
from sardonyx._transformers_private.mtp import run_first_layer
from sardonyx.hf.base.caches import PAST_LENGTH, CacheLayout, layout_of
from sardonyx.hf.base.example import BATCH, LENGTH, TOTAL_LENGTH, Dims, Tensors
from sardonyx.hf.base.paired_caches import in_pairs
from sardonyx.hf.base.parts import Part
from sardonyx.hf.inputs.meta_execution import probe

STATES, STATES_AFTER = "hidden_states", "hidden_states_out"
_RUNS = ((2, 5), (3, 7))
_BATCH, _PAST, _LENGTH = 2, 5, 3


class _Head(torch.nn.Module):
    """From tokens, the model's states for those before them, and a cache, to logits of the tokens
    after them, states that a next step reads, and the cache with these tokens."""

    def __init__(self, head: torch.nn.Module, layout: CacheLayout) -> None:
        super().__init__()
        self.model = head
        self._layout = layout

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """What it says of all of the tokens."""
        past = [inputs[each.past] for each in self._layout.tensors]
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        cache = self._layout.cache_of(past, mask.shape[1] - ids.shape[1])
        positions = inputs["position_ids"]
        results = run_first_layer(
            self.model, ids, inputs[STATES], mask=mask, positions=positions, cache=cache
        )
        return (*results, *self._layout.tensors_of(cache))


def mtp_part(head: Any) -> Part:
    """The first layer of a head of transformers', which has the embeddings and the last layer of
    its model."""
    caches = [_cache_after(head, *sizes) for sizes in _RUNS]
    sizes = [{BATCH: batch, PAST_LENGTH: length} for batch, length in _RUNS]
    layout = in_pairs(layout_of(caches, sizes))
    total = _PAST + _LENGTH
    inputs: Tensors = _inputs(head, _BATCH, _LENGTH) | {
        "attention_mask": torch.ones(_BATCH, total, dtype=torch.int64),
        "position_ids": torch.arange(_PAST, total).expand(_BATCH, -1).contiguous(),
    }
    rows = {0: BATCH, 1: LENGTH}
    dims: Dims = dict.fromkeys(inputs, rows) | {"attention_mask": {0: BATCH, 1: TOTAL_LENGTH}}
    for each in layout.tensors:
        inputs[each.past] = each.example({BATCH: _BATCH, PAST_LENGTH: _PAST})
        dims[each.past] = each.dims
    outputs = ("logits", STATES_AFTER, *(each.present for each in layout.tensors))
    return Part("model", _Head(head, layout), inputs, dims, outputs)


def _inputs(head: Any, batch: int, length: int) -> Tensors:
    weight = head.layers[0].eh_proj.weight
    return {
        "input_ids": torch.zeros(batch, length, dtype=torch.int64),
        STATES: torch.zeros(batch, length, head.config.hidden_size, dtype=weight.dtype),
    }


def _cache_after(head: Any, batch: int, length: int) -> Any:
    def run(input_ids: torch.Tensor, hidden_states: torch.Tensor) -> Any:
        cache = new_cache(head.config)
        positions = torch.arange(length).expand(batch, -1)
        mask = torch.ones(batch, length, dtype=torch.int64)
        run_first_layer(head, input_ids, hidden_states, mask=mask, positions=positions, cache=cache)
        return cache

    return probe(head, run, **_inputs(head, batch, length))
