"""Exported folders held against PyTorch."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from sardonyx._base.errors import Diagnostic, VerificationError, refusals
from sardonyx._compare.tensors import difference

from .acceptance import accepted_example
from .encoder_decoders import FIRST, MERGED, OF_DECODER
from .example import BATCH, Example, Tensors, token_ids
from .generation import (
    decode_of_encoder,
    decode_with_media,
    first_token,
    likeliest,
    media_of,
    taken_at_once,
    with_next,
)
from .media import IMAGES, Medium
from .parts import accepted, fixed_arguments, named_outputs
from .references import as_sure, farthest, of_pytorch
from .running import Loaded
from .sentences import Embedder, Sentences
from .sessions import Sessions
from .weights import mapped

if TYPE_CHECKING:
    from .held import HeldValues
    from .parts import Part
    from .report import Report
    from .tasks import Chosen
    from .weights import Placed

# Runtimes whose products with weights in blocks are made to round the other factor to 8 bits.
_ROUNDING = ("onnxruntime-cpu", "onnxruntime-genai")
_TOKENS = 20
_PROMPT = 6


def compare(
    model: torch.nn.Module,
    chosen: Chosen,
    folder: Path,
    report: Report,
    sentences: Sentences | None = None,
    *,
    held: HeldValues | None = None,
) -> dict[str, Any]:
    """What was compared, and how it went. SX1901 in a VerificationError where float32 outputs
    differ beyond rounding; other precisions are measured, and not judged, since they lose what they
    lose. Of weights in blocks there is also what PyTorch makes of the values that they are `held`
    as: that tells a wrong model from one that lost much, and is judged where the runtime is not
    told to round the other factors, too."""
    found = _compared(model, chosen, Loaded(folder, report.as_dict()), sentences)
    _judge(report, found)
    if held:
        others = held.put(model)
        exact = Loaded(folder, report.as_dict(), rounds=False)
        of_held = _compared(model, chosen, exact, sentences)
        rounds = report.runtime in _ROUNDING or report.precision not in ("int8", "int4")
        if of_held["different"] and not others and not rounds:
            raise refusals(
                [
                    Diagnostic("SX1901", f"with the weights as they are held in blocks, {text}")
                    for text in of_held["different"]
                ],
                VerificationError,
            )
        found["held"] = of_held | {"weights in another form": others, "factors are rounded": rounds}
    return found


def _compared(
    model: torch.nn.Module, chosen: Chosen, loaded: Loaded, sentences: Sentences | None
) -> dict[str, Any]:
    if loaded.takes_embeddings:
        return _tokens_after_media(model, chosen, loaded)
    if chosen.with_past and FIRST not in loaded.part_names:
        return _tokens(model, loaded)
    if chosen.task.generates and FIRST in loaded.part_names:
        return _tokens_of_encoder(model, chosen, loaded)
    return _outputs(model, chosen, loaded, sentences)


def compare_part(part: Part, placed: Placed, folder: Path, report: Report) -> None:
    """A part that is run as it is, with the weights of its checkpoint, at its example's sizes and
    for one row; what was compared is added to the report, SX1901 as by compare()."""
    model: Any = part.module.model
    known = model.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, place in placed.places.items():
            known[name].copy_(mapped(place))
        sets = [part.inputs, {n: _one_row(v, part.dims[n]) for n, v in part.inputs.items()}]
        wanted = [part.module(inputs) for inputs in sets]
    loaded = Sessions(folder)
    found: dict[str, Any] = {"outputs": 0, "largest difference": 0.0, "different": []}
    found |= report.verified
    for inputs, values in zip(sets, wanted, strict=True):
        got = loaded(part.name, **inputs)
        for name, value in zip(part.outputs, values, strict=True):
            found["outputs"] += 1
            text = difference(got[name], value)
            if text is not None:
                found["different"].append(f"output '{name}' of {part.name}: {text}")
            elif value.numel():
                worst = farthest(got[name], value)
                found["largest difference"] = max(worst, found["largest difference"])
    report.verified = found
    _judge(report, found)


def _one_row(value: torch.Tensor, axes: dict[int, str]) -> torch.Tensor:
    return value[:1] if axes.get(0) == BATCH else value


def _judge(report: Report, found: dict[str, Any]) -> None:
    if report.precision == "fp32" and found["different"]:
        raise refusals(
            [Diagnostic("SX1901", text) for text in found["different"]], VerificationError
        )


def _tokens(model: torch.nn.Module, loaded: Loaded) -> dict[str, Any]:
    """Greedy tokens after a prompt, one row of which is padded on its left."""
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
            # Models whose own cache changes their answers are held against that.
            cached = greedy_with_cache(model, ids, mask, _TOKENS, never)
            same = max(same, _same(cached, got, _PROMPT))
        if same < _TOKENS:
            # From where PyTorch's tokens differ from its own in float64, none is more right.
            others = of_pytorch(
                model,
                {"ids": ids, "mask": mask},
                lambda wide, text: greedy(wide, text["ids"], text["mask"], _TOKENS, never=never),
            )
            own = greedy(model, ids, mask, _TOKENS, never=never)
            if any(same >= _same(other, own, _PROMPT) for other in others):
                unsure.append(f"token {same} at batch {batch}: PyTorch differs from itself there")
                equal += same
                continue
        equal += same
        if same < _TOKENS:
            different.append(f"of {_TOKENS} greedy tokens, {same} are PyTorch's at batch {batch}")
    found = {"tokens": 2 * _TOKENS, "equal": equal, "different": different}
    return found | ({"unsure": unsure} if unsure else {})


def _tokens_after_media(model: torch.nn.Module, chosen: Chosen, loaded: Loaded) -> dict[str, Any]:
    """Greedy tokens after a text with images, after one with sounds, and after one without."""
    # Models keep how far the positions of a prompt were moved: examples come before all prompts.
    examples = [
        (medium, accepted_example(model, model.config, chosen.task, medium)[0])
        for medium in chosen.media
    ]
    found = _tokens(model, loaded)
    never = _never(loaded)
    for (medium, example), batch in itertools.product(examples, (1, 2)):
        given = example.make(batch, example.lengths[_takes_others(loaded, medium)])
        # Padding is on the left of prompts.
        given["attention_mask"] = torch.ones_like(given["input_ids"])
        ids, mask = given.pop("input_ids"), given.pop("attention_mask")
        wanted = greedy(model, ids, mask, _TOKENS, given | example.known(batch), never=never)
        begin = wanted.shape[1] - _TOKENS
        got = decode_with_media(loaded, wanted[:, :begin], given, _TOKENS, None)
        same = _same(wanted, got, begin)
        found["tokens"] += _TOKENS
        found["equal"] += same
        if same < _TOKENS:
            kind = "images" if medium is IMAGES else "sounds"
            alone = _each_alone(
                model, loaded, medium, example, given=given, prompts=wanted[:, :begin]
            )
            if alone is not None and _same(alone, got, begin) == _TOKENS:
                found.setdefault("unsure", []).append(
                    f"token {same} after {batch} {kind}: PyTorch has others after each alone, and "
                    "these are the same"
                )
                continue
            found["different"].append(
                f"of {_TOKENS} greedy tokens after {kind}, {same} are PyTorch's at batch {batch}"
            )
    return found


def _each_alone(
    model: torch.nn.Module,
    loaded: Loaded,
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
    return int(equal.long().cumprod(-1).sum(-1).min())


def _takes_others(loaded: Loaded, medium: Medium) -> bool:
    """Whether its encoder takes other sizes than the example's, of one or of any number."""
    shapes = loaded.inputs(medium.part)
    sizes = [size for name in medium.inputs for size in shapes.get(name, [])[1:]]
    return medium is IMAGES or any(isinstance(size, str) for size in sizes)


def _never(loaded: Loaded) -> list[int]:
    """The tokens for images and sounds, which no text that a model writes has."""
    return [token for _, token in media_of(loaded)] if loaded.takes_embeddings else []


def greedy_with_cache(
    model: torch.nn.Module,
    ids: torch.Tensor,
    mask: torch.Tensor,
    steps: int,
    never: Sequence[int] = (),
) -> torch.Tensor:
    """Greedy tokens of PyTorch's with the cache that transformers gives the model."""
    generate: Any = model.generate
    made: torch.Tensor = generate(
        input_ids=ids,
        attention_mask=mask,
        do_sample=False,
        num_beams=1,
        max_new_tokens=steps,
        min_new_tokens=steps,
        eos_token_id=None,
        pad_token_id=0,
        suppress_tokens=list(never) or None,
    )
    return made


def greedy(
    model: torch.nn.Module,
    ids: torch.Tensor,
    mask: torch.Tensor,
    steps: int,
    beside: Tensors | None = None,
    *,
    never: Sequence[int] = (),
) -> torch.Tensor:
    """Greedy tokens of PyTorch's, all of the text in every step: no cache can be wrong. `beside`
    are images and what belongs to the tokens of the prompt; `never` are no tokens of an answer."""
    taken = accepted(model)
    beside = dict(beside or {})
    with torch.no_grad():
        for _ in range(steps):
            given = {
                "input_ids": ids,
                "attention_mask": mask,
                "position_ids": (mask.cumsum(-1) - 1).clamp_min(0),
                **beside,
            }
            feed = {name: value for name, value in given.items() if name in taken}
            logits = model(**feed, **fixed_arguments(model)).logits
            ids = torch.cat([ids, likeliest(logits, never)], dim=1)
            mask = torch.cat([mask, mask.new_ones(mask.shape[0], 1)], dim=1)
            if "position_ids" in beside:
                beside["position_ids"] = with_next(beside["position_ids"])
            if "mm_token_type_ids" in beside:
                kinds = beside["mm_token_type_ids"]
                beside["mm_token_type_ids"] = torch.cat([kinds, torch.zeros_like(kinds[:, :1])], 1)
    return ids


def _outputs(
    model: torch.nn.Module, chosen: Chosen, loaded: Loaded, sentences: Sentences | None
) -> dict[str, Any]:
    """The outputs at another batch and length than the example's."""
    example, _, _ = accepted_example(model, model.config, chosen.task, chosen.in_one)
    shapes = loaded.inputs("model")
    sizes = _other_sizes(shapes, example)
    inputs = example.make(*sizes)
    with torch.no_grad():
        if sentences is not None:
            names = ("token_embeddings", "sentence_embedding")
            wanted = dict(zip(names, Embedder(model, sentences)(inputs), strict=True))
        else:
            known = example.known(sizes[0])
            wanted = named_outputs(model(**inputs, **known, **fixed_arguments(model)))
    got = loaded("model", **{name: inputs[name] for name in shapes})
    texts = {
        name: text
        for name, value in got.items()
        if name in wanted and (text := difference(value, wanted[name])) is not None
    }
    unsure = _unsure(model, inputs | example.known(sizes[0]), got, wanted) if texts else set()
    different = [
        f"output '{name}' differs from eager PyTorch: {text}"
        for name, text in texts.items()
        if name not in unsure
    ]
    worst = max(
        (
            farthest(value, wanted[name])
            for name, value in got.items()
            if name in wanted and value.shape == wanted[name].shape and value.numel()
        ),
        default=0.0,
    )
    found = {"outputs": len(got), "largest difference": worst, "different": different}
    if unsure & set(texts):
        found["unsure"] = [
            f"output '{name}': {texts[name]}; PyTorch's own differs as much from itself"
            for name in sorted(unsure & set(texts))
        ]
    return found


def _unsure(model: torch.nn.Module, inputs: Tensors, got: Tensors, wanted: Tensors) -> set[str]:
    """The outputs that are as near to PyTorch's as PyTorch's are to the exact ones."""

    def run(wide: torch.nn.Module, values: Tensors) -> Tensors:
        with torch.no_grad():
            return named_outputs(wide(**values, **fixed_arguments(wide)))

    others = of_pytorch(model, inputs, run)
    return {
        name
        for name, value in got.items()
        if name in wanted
        and as_sure(value, wanted[name], [each[name] for each in others if name in each])
    }


def _other_sizes(shapes: dict[str, list[Any]], example: Any) -> tuple[int, int]:
    """Three rows and the second length, where the model leaves them free."""
    free = {size for shape in shapes.values() for size in shape if isinstance(size, str)}
    of_length = {name for dims in example.dims.values() for axis, name in dims.items() if axis > 0}
    of_batch = {name for name, dims in example.dims.items() if dims.get(0) == "batch_size"}
    rows = [shapes[name][0] for name in of_batch & set(shapes)]
    one = 1 if example.known(1) else 3
    batch = next((size for size in rows if isinstance(size, int)), one)
    length = example.lengths[1] if of_length & free else example.lengths[0]
    return batch, length


def _tokens_of_encoder(model: torch.nn.Module, chosen: Chosen, loaded: Loaded) -> dict[str, Any]:
    """Greedy tokens of both, for one row and two."""
    example, _, _ = accepted_example(model, model.config, chosen.task)
    different, equal, steps = [], 0, _TOKENS
    for batch in (1, 2):
        inputs = example.make(batch, example.lengths[batch - 1])
        inputs = {k: v for k, v in inputs.items() if k not in OF_DECODER}
        begin = torch.full((batch, 1), first_token(loaded), dtype=torch.int64)
        wanted = _greedy_of_encoder(model, inputs, begin, steps)
        ways = (False, True) if MERGED in loaded.part_names else (False,)
        got = [decode_of_encoder(loaded, inputs, steps, None, merged) for merged in ways]
        same = min(_same(wanted, tokens, 1) for tokens in got)
        equal += same
        if same < steps:
            different.append(f"of {steps} greedy tokens, {same} are PyTorch's at batch {batch}")
    return {"tokens": 2 * steps, "equal": equal, "different": different}


def _greedy_of_encoder(
    model: torch.nn.Module, inputs: Tensors, ids: torch.Tensor, steps: int
) -> torch.Tensor:
    with torch.no_grad():
        for _ in range(steps):
            logits = model(**inputs, decoder_input_ids=ids, use_cache=False).logits
            ids = torch.cat([ids, logits[:, -1:].argmax(-1)], dim=1)
    return ids
