"""Compares the tokens that an exported folder generates with PyTorch's."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from sardonyx.hf.base.example import Example, Tensors, codes_of, token_ids
from sardonyx.hf.base.media import IMAGES, Medium
from sardonyx.hf.base.parts import fixed_arguments
from sardonyx.hf.components.encoder_decoders import MERGED, OF_DECODER
from sardonyx.hf.inputs.frames import frames_of
from sardonyx.hf.inputs.input_search import accepted_example

from .generation import (
    decode_of_encoder,
    decode_with_media,
    first_tokens,
    likeliest_of,
    media_of,
    taken_at_once,
    tokens_after,
)
from .greedy import greedy, greedy_with_cache
from .references import of_pytorch
from .running import ExportedFolder

if TYPE_CHECKING:
    from sardonyx.hf.base.tasks import ExportChoice

_TOKENS = 20
_PROMPT = 6


def tokens(model: torch.nn.Module, loaded: ExportedFolder) -> dict[str, Any]:
    """Greedy tokens after a prompt, one row of which is padded on its left."""
    if not loaded.takes_embeddings and (codes := loaded.inputs("model")["input_ids"][2:]):
        return _tokens_of_frames(model, loaded, int(codes[0]))
    different, equal = [], 0
    unsure: list[str] = []
    never = _never(loaded)
    for batch in (1, 2):
        ids = token_ids(model.config, batch, _PROMPT, seed=batch)
        mask = torch.ones_like(ids)
        if batch > 1:
            mask[-1, :2] = 0
        got = loaded.generate(ids, mask, _TOKENS)
        same = _same(greedy(model, ids, mask, _TOKENS, never=never), got, _PROMPT)
        if same < _TOKENS:
            # A model whose own cache changes its answers is compared with those.
            cached = greedy_with_cache(model, ids, mask, _TOKENS, never)
            if cached.shape == got.shape:
                same = max(same, _same(cached, got, _PROMPT))
        if same < _TOKENS:
            text = {"ids": ids, "mask": mask}
            if differs_from_itself(model, text, same, never):
                unsure.append(f"token {same} at batch {batch}: PyTorch differs from itself there")
                equal += same
                continue
        equal += same
        if same < _TOKENS:
            different.append(f"of {_TOKENS} greedy tokens, {same} are PyTorch's at batch {batch}")
    found = {"tokens": 2 * _TOKENS, "equal": equal, "different": different}
    return found | ({"unsure": unsure} if unsure else {})


def _tokens_of_frames(model: torch.nn.Module, loaded: ExportedFolder, codes: int) -> dict[str, Any]:
    """The likeliest tokens behind frames of codes, which are given: a model scores one code of the
    next frame, and the others come from elsewhere (a sound that is listened to)."""
    frames = frames_of(model, model.config)
    different, equal = [], 0
    for batch in (1, 2):
        ids = token_ids(model.config, batch, _PROMPT + _TOKENS - 1, seed=batch, codes=codes)
        with torch.no_grad():
            logits = model(input_ids=frames.taken(ids), **fixed_arguments(model)).logits
        wanted = logits[:, _PROMPT - 1 :].argmax(-1)
        same = _same(wanted, tokens_after(loaded, ids, _PROMPT), 0)
        equal += same
        if same < _TOKENS:
            different.append(
                f"of {_TOKENS} likeliest tokens, {same} are PyTorch's at batch {batch}"
            )
    return {"tokens": 2 * _TOKENS, "equal": equal, "different": different}


def tokens_after_media(
    model: torch.nn.Module, chosen: ExportChoice, loaded: ExportedFolder
) -> dict[str, Any]:
    """Greedy tokens after a text with images, after one with sounds, and after one without."""
    # Models keep how far the positions of a prompt were moved: examples come before all prompts.
    examples = [
        (medium, accepted_example(model, model.config, chosen.task, medium)[0])
        for medium in chosen.media
    ]
    found = tokens(model, loaded)
    never = _never(loaded)
    for (medium, example), batch in itertools.product(examples, (1, 2)):
        given = example.make(batch, example.lengths[_takes_others(loaded, medium)])
        # Padding is on the left of prompts.
        given["attention_mask"] = torch.ones_like(given["input_ids"])
        ids, mask = given.pop("input_ids"), given.pop("attention_mask")
        beside = given | example.known(batch)
        wanted = greedy(model, ids, mask, _TOKENS, beside, never=never)
        got = decode_with_media(loaded, ids, given, _TOKENS, None)
        begin = ids.shape[1]
        same = _same(wanted, got, begin)
        found["tokens"] += _TOKENS
        found["equal"] += same
        if same == _TOKENS:
            continue
        kind = "images" if medium is IMAGES else "sounds"
        alone = _each_alone(model, loaded, medium, example, given=given, prompts=ids)
        if alone is not None and _same(alone, got, begin) == _TOKENS:
            found.setdefault("unsure", []).append(
                f"token {same} after {batch} {kind}: PyTorch has others after each alone, and "
                "these are the same"
            )
        elif differs_from_itself(model, {"ids": ids, "mask": mask}, same, never, beside):
            found.setdefault("unsure", []).append(
                f"token {same} after {kind} at batch {batch}: PyTorch differs from itself there"
            )
        else:
            found["different"].append(
                f"of {_TOKENS} greedy tokens after {kind}, {same} are PyTorch's at batch {batch}"
            )
    return found


def tokens_of_encoder(
    model: torch.nn.Module, chosen: ExportChoice, loaded: ExportedFolder
) -> dict[str, Any]:
    """Greedy tokens of both, for one row and two."""
    example, _, _ = accepted_example(model, model.config, chosen.task)
    different, equal, steps = [], 0, _TOKENS
    for batch in (1, 2):
        inputs = example.make(batch, example.lengths[batch - 1])
        inputs = {k: v for k, v in inputs.items() if k not in OF_DECODER}
        begin = first_tokens(loaded, batch)
        wanted = _greedy_of_encoder(model, inputs, begin, steps)
        ways = (False, True) if MERGED in loaded.part_names else (False,)
        got = [decode_of_encoder(loaded, inputs, steps, None, merged) for merged in ways]
        same = min(_same(wanted, tokens, 1) for tokens in got)
        equal += same
        if same < steps:
            different.append(f"of {steps} greedy tokens, {same} are PyTorch's at batch {batch}")
    return {"tokens": 2 * steps, "equal": equal, "different": different}


def differs_from_itself(
    model: torch.nn.Module,
    text: Tensors,
    same: int,
    never: Sequence[int],
    beside: Tensors | None = None,
) -> bool:
    """Whether PyTorch's greedy tokens are others than its own, in float64 say, before `same` of
    those behind the prompt are gone through: from there on none is more right."""

    def run(wide: torch.nn.Module, inputs: Tensors) -> torch.Tensor:
        others = {name: value for name, value in inputs.items() if name not in text}
        return greedy(wide, inputs["ids"], inputs["mask"], _TOKENS, others, never=never)

    inputs = text | (beside or {})
    own, begin = run(model, inputs), text["ids"].shape[1]
    return any(same >= _same(other, own, begin) for other in of_pytorch(model, inputs, run))


def _each_alone(
    model: torch.nn.Module,
    loaded: ExportedFolder,
    medium: Medium,
    example: Example,
    *,
    given: Tensors,
    prompts: torch.Tensor,
) -> torch.Tensor | None:
    """PyTorch's greedy tokens row by row, where the exported encoder takes one image or sound at a
    time, too: some models attend to one from another. None where there is no telling them apart."""
    media = {name: value for name, value in given.items() if name in medium.inputs}
    positions = given.get("position_ids")
    runs = taken_at_once(loaded, medium, media)
    if given.keys() - media.keys() - {"position_ids"} or len(runs) != len(prompts):
        return None
    rows = []
    for place, (row, run) in enumerate(zip(prompts, runs, strict=True)):
        beside = run | example.known(1)
        if positions is not None:
            beside["position_ids"] = positions[..., place : place + 1, :]
        ones = torch.ones_like(row)[None]
        rows.append(greedy(model, row[None], ones, _TOKENS, beside, never=_never(loaded)))
    return torch.cat(rows)


def _same(wanted: torch.Tensor, got: torch.Tensor, begin: int) -> int:
    """How many tokens behind the prompt are equal in all rows, until the first that is not."""
    equal = wanted[:, begin:] == got[:, begin:]
    if codes_of(equal):
        equal = equal.all(-1)
    return int(equal.long().cumprod(-1).sum(-1).min())


def _takes_others(loaded: ExportedFolder, medium: Medium) -> bool:
    """Whether its encoder takes other sizes than the example's, of one or of any number."""
    shapes = loaded.inputs(medium.part)
    sizes = [size for name in medium.inputs for size in shapes.get(name, [])[1:]]
    return medium is IMAGES or any(isinstance(size, str) for size in sizes)


def _never(loaded: ExportedFolder) -> list[int]:
    """The tokens for images and sounds, which no text that a model writes has."""
    return [token for _, token in media_of(loaded)] if loaded.takes_embeddings else []


def _greedy_of_encoder(
    model: torch.nn.Module, inputs: Tensors, ids: torch.Tensor, steps: int
) -> torch.Tensor:
    with torch.no_grad():
        for _ in range(steps):
            logits = model(**inputs, decoder_input_ids=ids, use_cache=False).logits
            ids = torch.cat([ids, likeliest_of(logits, ids)], dim=1)
    return ids
