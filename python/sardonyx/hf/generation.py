"""Greedy generation with exported models: what comes out as a cache goes back in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import torch

from .caches import PAST_LENGTH
from .encoder_decoders import ENCODER, FIRST, LATER, MASK, STATES
from .examples import Tensors
from .sessions import Sessions

_PAST, _PRESENT = "past_key_values.", "present."
_TYPES = {
    "tensor(float)": torch.float32,
    "tensor(float16)": torch.float16,
    "tensor(bfloat16)": torch.bfloat16,
    "tensor(int64)": torch.int64,
}


def decode(
    model: Sessions, ids: torch.Tensor, mask: torch.Tensor | None, steps: int, end: int | None
) -> torch.Tensor:
    """Tokens [batch, length] of a decoder, the prompt included, until all rows end with `end`."""
    if mask is None:
        mask = torch.ones_like(ids)
    past = empty_caches(model, ids.shape[0])
    fed = ids
    for _ in range(steps):
        made = _step(model, fed, mask, past)
        past = next_past(made)
        chosen = made["logits"][:, -1:].argmax(-1)
        ids = torch.cat([ids, chosen], dim=1)
        mask = torch.cat([mask, mask.new_ones(mask.shape[0], 1)], dim=1)
        fed = chosen if past else ids
        if end is not None and bool((chosen == end).all()):
            break
    return ids


def _step(model: Sessions, fed: torch.Tensor, mask: torch.Tensor, past: Tensors) -> Tensors:
    """What the decoder makes of the tokens `fed`, which are the last of those in the mask: all at
    once, or one after the other where it takes one."""
    inputs = model.inputs("model")
    # Models that keep a state alone take the mask of the tokens that they are given.
    mask_of_tokens = inputs.get("attention_mask", [])[1:] in (["sequence_length"], [1])
    positions = (mask.cumsum(-1) - 1).clamp_min(0)
    begin, end = mask.shape[1] - fed.shape[1], mask.shape[1]
    one = inputs["input_ids"][1] == 1
    made: Tensors = {}
    for stop in range(begin + 1, end + 1) if one else (end,):
        now = slice(stop - 1 if one else begin, stop)
        given = {
            "input_ids": fed[:, now.start - begin : now.stop - begin],
            "attention_mask": mask[:, now] if mask_of_tokens else mask[:, :stop],
            "position_ids": positions[:, now],
        }
        made = model("model", **{name: given[name] for name in given if name in inputs}, **past)
        if one:
            made |= _begun_anew(made, mask[:, :stop], inputs)
        past = next_past(made)
    return made


def _begun_anew(
    made: Tensors, mask: torch.Tensor, inputs: Mapping[str, Sequence[int | str]]
) -> Tensors:
    """States of zeros for the rows that had nothing but padding yet: models do not look at the mask
    when they are given one token. Keys and values have a length, and are hidden by the mask."""
    begun = mask.any(1)
    if bool(begun.all()):
        return {}
    states = {
        name: value
        for name, value in made.items()
        if name.startswith(_PRESENT) and PAST_LENGTH not in inputs[name.replace(_PRESENT, _PAST, 1)]
    }
    return {
        name: value * begun.view(-1, *[1] * (value.dim() - 1)).to(value.dtype)
        for name, value in states.items()
    }


def next_past(made: Mapping[str, torch.Tensor]) -> Tensors:
    """What a run left in the cache, as inputs of the next."""
    return {
        name.replace(_PRESENT, _PAST, 1): value
        for name, value in made.items()
        if name.startswith(_PRESENT)
    }


def empty_caches(model: Sessions, batch: int) -> Tensors:
    """The inputs for a cache, which hold nothing: no past, and states of zeros."""
    sizes = {"batch_size": batch}
    return {
        value.name: torch.zeros(
            [size if isinstance(size, int) else sizes.get(size, 0) for size in value.shape],
            dtype=_TYPES[value.type],
        )
        for value in model.session("model").get_inputs()
        if value.name.startswith(_PAST)
    }


def decode_of_encoder(
    model: Sessions, inputs: Tensors, steps: int, end: int | None
) -> torch.Tensor:
    """Greedy tokens [batch, length], that which begins them included."""
    encoder = model.inputs(ENCODER)
    states = model(ENCODER, **{k: v for k, v in inputs.items() if k in encoder})
    given: Tensors = {STATES: states["last_hidden_state"]}
    if "attention_mask" in inputs:
        given[MASK] = inputs["attention_mask"]
    ids = inputs.get("decoder_input_ids")
    if ids is None:
        ids = torch.full((given[STATES].shape[0], 1), first_token(model), dtype=torch.int64)
    past: Tensors = {}
    fed = ids
    for _ in range(steps):
        part = LATER if past else FIRST
        names = model.inputs(part)
        feed = {"input_ids": fed, **given, **past}
        made = model(part, **{name: value for name, value in feed.items() if name in names})
        past = past | next_past(made)
        chosen = made["logits"][:, -1:].argmax(-1)
        ids = torch.cat([ids, chosen], dim=1)
        fed = chosen if past else ids
        if end is not None and bool((chosen == end).all()):
            break
    return ids


def first_token(model: Sessions) -> int:
    """The token that decoders begin with, by the configurations in the folder."""
    for name in ("generation_config.json", "config.json"):
        path = model.folder / name
        settings = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        for key in ("decoder_start_token_id", "bos_token_id"):
            token = settings.get(key, (settings.get("decoder") or {}).get(key))
            if isinstance(token, int):
                return token
    return 0
