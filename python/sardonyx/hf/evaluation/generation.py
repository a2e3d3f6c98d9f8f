"""Greedy generation with exported models: what comes out as a cache goes back in."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

from sardonyx._base.errors import UsageError, refusal
from sardonyx._runtime.values import dtype_of_runtime
from sardonyx.hf.base.caches import PAST, PAST_LENGTH, POSITION, PRESENT
from sardonyx.hf.base.example import BATCH, Tensors, codes_of
from sardonyx.hf.base.media import MEDIA, Medium
from sardonyx.hf.base.paired_caches import is_state
from sardonyx.hf.base.parts import EMBEDDINGS
from sardonyx.hf.components.encoder_decoders import (
    ENCODER,
    FIRST,
    LATER,
    MASK,
    MERGED,
    STATES,
    USES_CACHE,
)
from sardonyx.hf.components.multimodal import DECODER, TOKENS

from .sessions import Sessions


class _Text(NamedTuple):
    """The mask [batch, length] of a text and the positions of its tokens, maybe in several
    directions [directions, batch, length]."""

    mask: torch.Tensor
    positions: torch.Tensor

    def with_next(self) -> _Text:
        """With one more token."""
        ones = self.mask.new_ones(self.mask.shape[0], 1)
        return _Text(torch.cat([self.mask, ones], dim=1), with_next(self.positions))

    def moved(self, order: torch.Tensor) -> _Text:
        """With the tokens of each row in another order [batch, length]."""
        positions = self.positions
        everywhere = order if positions.dim() == 2 else order.expand_as(positions)
        return _Text(self.mask.take_along_dim(order, 1), positions.take_along_dim(everywhere, -1))


def decode(
    model: Sessions, ids: torch.Tensor, mask: torch.Tensor | None, steps: int, end: int | None
) -> torch.Tensor:
    """Tokens [batch, length] of a decoder, the prompt included, until all rows end with `end`."""
    if ids.shape[0] > 1 and model.inputs("model")["input_ids"][0] == 1:
        return _row_by_row(model, ids, mask, steps, end)
    # Padded on the right, a row's last token is not its last place, and states take in padding.
    needs_last = model.outputs("model")["logits"][1] == 1 or any(
        map(is_state, model.inputs("model"))
    )
    if needs_last and model.tokens_first and mask is not None and bool((mask == 0).any()):
        return _row_by_row(model, ids, mask, steps, end, padded=False)
    given = {} if mask is None else {"attention_mask": mask}
    return decode_with_media(model, ids, given, steps, end, part="model")


def _row_by_row(
    model: Sessions,
    ids: torch.Tensor,
    mask: torch.Tensor | None,
    steps: int,
    end: int | None,
    *,
    padded: bool = True,
) -> torch.Tensor:
    """The same of a decoder that takes one row, with or without its padding."""
    masks = [None] * ids.shape[0] if mask is None else mask.split(1)
    made_rows = []
    for row, own in zip(ids.split(1), masks, strict=True):
        kept = row if padded or own is None else row[:, own[0].bool()]
        made = decode(model, kept, own if padded else None, steps, None)
        made_rows.append(torch.cat([row, made[:, kept.shape[1] :]], 1))
    made = torch.cat(made_rows)
    ended = made[:, ids.shape[1] :].eq(-1 if end is None else end).all(0).nonzero()
    return made[:, : ids.shape[1] + int(ended[0]) + 1] if len(ended) else made


def decode_with_media(
    model: Sessions,
    ids: torch.Tensor,
    inputs: Tensors,
    steps: int,
    end: int | None,
    *,
    part: str = DECODER,
) -> torch.Tensor:
    """The same of a decoder of the name `part`. `inputs` may have an attention_mask, position_ids
    of the prompt, and images or sounds."""
    if codes_of(ids):
        raise refusal(
            "SX1001",
            "each token is a frame of codes, which this loop does not put together",
            "run the model through a session of ONNX Runtime",
            UsageError,
        )
    mask = inputs.get("attention_mask", torch.ones_like(ids))
    text = _Text(mask, inputs.get("position_ids", (mask.cumsum(-1) - 1).clamp_min(0)))
    past = empty_caches(model, ids.shape[0], part)
    never = [token for _, token in media_of(model)] if part == DECODER else []
    fed = ids if part != DECODER else _embedded(model, ids, inputs)
    if padded := model.tokens_first and bool((mask == 0).any()):
        order = mask.argsort(dim=1, descending=True, stable=True)
        fed = fed.take_along_dim(order if fed.dim() == 2 else order[..., None], 1)
        text = text.moved(order)
    for _ in range(steps):
        _check_places(model, text.mask.shape[1], ids.shape[1])
        made = _step(model, part, fed, text, past)
        past = next_past(made)
        logits = made["logits"]
        if padded:
            last = mask.sum(dim=1) - 1
            logits = logits.take_along_dim(last[:, None, None], 1)
            padded = False
        chosen = likeliest(logits, never)
        ids = torch.cat([ids, chosen], dim=1)
        text = text.with_next()
        fed = chosen if past else ids
        if part == DECODER:
            fed = _embedded(model, fed, {})
        if end is not None and bool((chosen == end).all()):
            break
    return ids


def run_prompt(model: Sessions, ids: torch.Tensor) -> Tensors:
    """The cache that a prompt [1, length] leaves, by the names of the inputs that take it."""
    mask = torch.ones_like(ids)
    text = _Text(mask, mask.cumsum(-1) - 1)
    return next_past(_step(model, "model", ids, text, empty_caches(model, ids.shape[0])))


def tokens_after(model: Sessions, frames: torch.Tensor, prompt: int) -> torch.Tensor:
    """The likeliest token behind each frame of codes [batch, length, codes] from the last of the
    `prompt` on, [batch, length - prompt + 1], where what comes behind it is given, too."""
    mask = torch.ones(frames.shape[:2], dtype=torch.int64)
    positions = mask.cumsum(-1) - 1
    past = empty_caches(model, frames.shape[0])
    chosen = []
    for begin, end in itertools.pairwise((0, *range(prompt, frames.shape[1] + 1))):
        text = _Text(mask[:, :end], positions[:, :end])
        made = _step(model, "model", frames[:, begin:end], text, past)
        past = next_past(made)
        chosen.append(likeliest(made["logits"]))
    return torch.cat(chosen, 1)


def likeliest(logits: torch.Tensor, never: Sequence[int] = ()) -> torch.Tensor:
    """The next token of each row [batch, 1]; a text goes on with none of `never`."""
    last = logits[:, -1:]
    within = [token for token in never if token < last.shape[-1]]
    if within:
        last = last.index_fill(-1, torch.tensor(within), -torch.inf)
    return last.argmax(-1)


def likeliest_of(logits: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """The next token of each row, or the next frame of codes [batch, 1, codes], the scores of whose
    codes are rows beside each other."""
    chosen = likeliest(logits)
    return chosen.view(ids.shape[0], 1, -1) if codes_of(ids) else chosen


def with_next(positions: torch.Tensor) -> torch.Tensor:
    """With the position of one more token, which is behind all others of its row."""
    last = positions.amax(-1, keepdim=True)
    if positions.dim() == 3:
        last = last.amax(0, keepdim=True).expand(positions.shape[0], -1, -1)
    return torch.cat([positions, last + 1], dim=-1)


def _check_places(model: Sessions, tokens: int, length: int) -> None:
    """SX1001 where a static cache has no place for the text."""
    if 0 < model.static_cache < tokens:
        raise refusal(
            "SX1001",
            f"the cache has places for {model.static_cache} tokens, and the text has {length}",
            f"export with --static-cache {length} or more",
            UsageError,
        )


def _embedded(model: Sessions, ids: torch.Tensor, inputs: Tensors) -> torch.Tensor:
    """Embeddings of tokens, and of images or sounds where the text has their places."""
    all_media = media_of(model)
    words = ids
    for _, token in all_media:
        # Such a token may be none of the vocabulary.
        words = words.masked_fill(words.eq(token), 0)
    embeddings = model(TOKENS, input_ids=words)[EMBEDDINGS]
    for medium, token in all_media:
        known = model.inputs(medium.part)
        given = {name: value for name, value in inputs.items() if name in known}
        if medium.is_in(given):
            features = _features(model, medium, given).to(embeddings.dtype)
            embeddings = embeddings.masked_scatter(ids.eq(token).unsqueeze(-1), features)
    return embeddings


def _features(model: Sessions, medium: Medium, given: Tensors) -> torch.Tensor:
    """Those of all images or sounds; an encoder that takes one at a time runs once for each."""
    runs = taken_at_once(model, medium, given)
    return torch.cat([model(medium.part, **run)[medium.features] for run in runs])


def taken_at_once(model: Sessions, medium: Medium, given: Tensors) -> list[Tensors]:
    """The encoder's inputs, as many at once as it takes."""
    shapes = model.inputs(medium.part)
    axes = {name: _axis_of_several(shapes[name], value) for name, value in given.items()}
    runs = max(value.shape[axes[name]] // _size(shapes[name], value, axes[name])
               for name, value in given.items())  # fmt: skip
    return [
        {name: value.chunk(runs, axes[name])[i] for name, value in given.items()}
        for i in range(runs)
    ]


def _axis_of_several(shape: Sequence[int | str], value: torch.Tensor) -> int:
    """The axis on which images stand beside each other: rows, or their patches in a row."""
    pairs = enumerate(zip(shape, value.shape, strict=True))
    return next((axis for axis, (one, all_) in pairs if isinstance(one, int) and one != all_), 0)


def _size(shape: Sequence[int | str], value: torch.Tensor, axis: int) -> int:
    size = shape[axis]
    return size if isinstance(size, int) else value.shape[axis]


def media_of(model: Sessions) -> list[tuple[Medium, int]]:
    """The media that the folder has an encoder for, each with its placeholder token in the text.
    The token is in the configuration in the same folder."""
    settings = json.loads((model.folder / "config.json").read_text(encoding="utf-8"))
    # Where one component is exported alone, its settings are nested in those of the whole model.
    held = [settings, *(value for value in settings.values() if isinstance(value, dict))]
    found = []
    for medium in MEDIA:
        token = next((token for each in held if (token := medium.token_of(each)) is not None), None)
        if token is not None and (model.folder / f"{medium.part}.onnx").is_file():
            found.append((medium, token))
    return found


def _step(
    model: Sessions,
    part: str,
    fed: torch.Tensor,
    text: _Text,
    past: Tensors,
) -> Tensors:
    """What the decoder makes of the tokens or embeddings `fed`, which are the last of those in the
    mask: all at once, or one after the other where it takes one."""
    mask, positions = text
    inputs = model.inputs(part)
    name = EMBEDDINGS if EMBEDDINGS in inputs else "input_ids"
    # Models that keep a state alone take the mask of the tokens that they are given.
    mask_of_tokens = inputs.get("attention_mask", [])[1:] in (["sequence_length"], [1])
    if len(inputs.get("position_ids", [])) > positions.dim():
        positions = positions.expand(int(inputs["position_ids"][0]), *positions.shape)
    begin, end = mask.shape[1] - fed.shape[1], mask.shape[1]
    one = inputs[name][1] == 1
    made: Tensors = {}
    for stop in range(begin + 1, end + 1) if one else (end,):
        now = slice(stop - 1 if one else begin, stop)
        given = {
            name: fed[:, now.start - begin : now.stop - begin],
            "attention_mask": mask[:, now] if mask_of_tokens else mask[:, :stop],
            "position_ids": positions[..., now],
        }
        if POSITION in inputs:
            free = model.static_cache - stop
            given["attention_mask"] = torch.nn.functional.pad(mask[:, :stop], (0, free))
            given[POSITION] = torch.tensor([now.start])
        made = model(part, **{name: given[name] for name in given if name in inputs}, **past)
        # What takes no mask takes padding for tokens, in PyTorch, too.
        if one and "attention_mask" in inputs:
            made |= _begun_anew(made, mask[:, :stop], inputs)
        past = next_past(made)
    return made


def _begun_anew(
    made: Tensors, mask: torch.Tensor, inputs: Mapping[str, Sequence[int | str]]
) -> Tensors:
    """States of zeros for the rows that had nothing but padding yet: models do not look at the mask
    when they are given one token. Keys and values have a length, and are hidden by the mask; what
    all rows have in common counts tokens."""
    begun = mask.any(1)
    if bool(begun.all()):
        return {}
    states = {
        name: value
        for name, value in made.items()
        if name.startswith(PRESENT)
        and PAST_LENGTH not in (shape := inputs[name.replace(PRESENT, PAST, 1)])
        and BATCH in shape[:1]
    }
    return {
        name: value * begun.view(-1, *[1] * (value.dim() - 1)).to(value.dtype)
        for name, value in states.items()
    }


def next_past(made: Mapping[str, torch.Tensor]) -> Tensors:
    """What a run left in the cache, as inputs of the next."""
    return {
        name.replace(PRESENT, PAST, 1): value
        for name, value in made.items()
        if name.startswith(PRESENT)
    }


def empty_caches(model: Sessions, batch: int, part: str = "model") -> Tensors:
    """The inputs for a cache, which hold nothing: no past, and states of zeros. SX1001 for a past
    of one length that the model makes longer, with which no text can begin."""
    after = model.outputs(part)
    for name, shape in model.inputs(part).items():
        longer = after.get(name.replace(PAST, PRESENT, 1), shape)
        grown = [axis for axis, size in enumerate(shape) if isinstance(size, int) and
                 axis < len(longer) and longer[axis] != size]  # fmt: skip
        if name.startswith(PAST) and grown:
            raise refusal(
                "SX1001",
                f"the model runs behind {shape[grown[0]]} tokens alone, and a text begins with "
                "none in the cache",
                "export without --fixed past_sequence_length; --static-cache has a buffer of "
                "one size",
                UsageError,
            )
    sizes = {"batch_size": batch}
    return {
        value.name: torch.zeros(
            [size if isinstance(size, int) else sizes.get(size, 0) for size in value.shape],
            dtype=dtype_of_runtime(value.type),
        )
        for value in model.typed_inputs(part)
        if value.name.startswith(PAST)
    }


def decode_of_encoder(
    model: Sessions, inputs: Tensors, steps: int, end: int | None, merged: bool = False
) -> torch.Tensor:
    """Greedy tokens [batch, length], that which begins them included; `merged`: by the decoder that
    has both steps as its branches."""
    encoder = model.inputs(ENCODER)
    states = model(ENCODER, **{k: v for k, v in inputs.items() if k in encoder})
    given: Tensors = {STATES: states["last_hidden_state"]}
    if MASK in states:
        given[MASK] = states[MASK]
    elif "attention_mask" in inputs:
        given[MASK] = inputs["attention_mask"]
    ids = inputs.get("decoder_input_ids")
    if ids is None:
        ids = first_tokens(model, given[STATES].shape[0])
    past: Tensors = {}
    fed = ids
    nothing = empty_caches(model, ids.shape[0], MERGED) if merged else {}
    for _ in range(steps):
        part = MERGED if merged else LATER if past else FIRST
        names = model.inputs(part)
        feed = {"input_ids": fed, **given, **(past or nothing)}
        feed[USES_CACHE] = torch.tensor([bool(past)])
        made = model(part, **{name: value for name, value in feed.items() if name in names})
        past = past | next_past(made)
        chosen = likeliest_of(made["logits"], ids)
        ids = torch.cat([ids, chosen], dim=1)
        fed = chosen if past else ids
        if end is not None and bool((chosen == end).all()):
            break
    return ids


def first_tokens(model: Sessions, batch: int) -> torch.Tensor:
    """What decoders begin with: a token [batch, 1], or a frame of it [batch, 1, codes]."""
    codes = model.inputs(FIRST)["input_ids"][2:]
    return torch.full((batch, 1, *map(int, codes)), _first_token(model), dtype=torch.int64)


def _first_token(model: Sessions) -> int:
    """The token that decoders begin with, by the configurations in the folder."""
    for name in ("generation_config.json", "config.json"):
        path = model.folder / name
        settings = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        for key in ("decoder_start_token_id", "bos_token_id"):
            decoder = settings.get("decoder") or settings.get("decoder_config") or {}
            token = settings.get(key, decoder.get(key))
            if isinstance(token, int):
                return token
    return 0
