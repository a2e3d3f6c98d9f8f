"""How long PyTorch and an exported folder take for the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from sardonyx.hf.base.example import token_ids
from sardonyx.hf.base.parts import fixed_arguments
from sardonyx.hf.components.encoder_decoders import FIRST, OF_DECODER
from sardonyx.hf.inputs.input_search import accepted_example

from .generation import decode_of_encoder, first_tokens
from .greedy import greedy_with_cache
from .running import ExportedFolder

if TYPE_CHECKING:
    from sardonyx.hf.base.tasks import ExportChoice

_TOKENS = 20
_PROMPT = 32
_AGAIN = 3
# What takes longer is not run again.
_LONG = 5.0


def speed_of_both(
    model: torch.nn.Module, chosen: ExportChoice, loaded: ExportedFolder
) -> dict[str, Any]:
    """The seconds that each takes: for tokens of one row, both with their caches, or for one run of
    the example's sizes; the quickest of a few runs. Empty where PyTorch has no such run."""
    generates = chosen.with_past or (chosen.task.generates and FIRST in loaded.part_names)
    try:
        if not generates:
            return _of_outputs(model, chosen, loaded)
        return _of_tokens(model, chosen, loaded)
    except Exception:  # a model's own generate() may take other arguments, or raise what it likes
        return {}


def _of_tokens(
    model: torch.nn.Module, chosen: ExportChoice, loaded: ExportedFolder
) -> dict[str, Any]:
    generate: Any = model.generate
    if FIRST in loaded.part_names:
        example, _, _ = accepted_example(model, model.config, chosen.task)
        made = example.make(1, example.lengths[0])
        inputs = {name: value for name, value in made.items() if name not in OF_DECODER}
        settings = {"max_new_tokens": _TOKENS, "min_new_tokens": _TOKENS, "do_sample": False}
        begin = int(first_tokens(loaded, 1).flatten()[0])
        settings |= {"num_beams": 1, "decoder_start_token_id": begin}
        return {
            "of": f"{_TOKENS} tokens for one row",
            "pytorch": _seconds(lambda: generate(**inputs, **settings)),
            "onnxruntime": _seconds(lambda: decode_of_encoder(loaded, inputs, _TOKENS, None)),
        }
    ids = token_ids(model.config, 1, _PROMPT, seed=0)
    mask = torch.ones_like(ids)
    return {
        "of": f"{_TOKENS} tokens behind {_PROMPT}",
        "pytorch": _seconds(lambda: greedy_with_cache(model, ids, mask, _TOKENS)),
        "onnxruntime": _seconds(lambda: loaded.generate(ids, mask, _TOKENS)),
    }


def _of_outputs(
    model: torch.nn.Module, chosen: ExportChoice, loaded: ExportedFolder
) -> dict[str, Any]:
    example, _, _ = accepted_example(model, model.config, chosen.task, chosen.in_one)
    inputs = example.make(1, example.lengths[0])
    shapes = loaded.inputs("model")
    given = {name: inputs[name] for name in shapes}
    beside = example.known(1) | fixed_arguments(model)
    return {
        "of": "one run of " + ", ".join(f"{k} {list(v.shape)}" for k, v in given.items()),
        "pytorch": _seconds(lambda: model(**inputs, **beside)),
        "onnxruntime": _seconds(lambda: loaded("model", **given)),
    }


def _seconds(run: Callable[[], Any]) -> float:
    quickest = float("inf")
    with torch.no_grad():
        for _ in range(_AGAIN):
            begun = time.perf_counter()
            run()
            quickest = min(quickest, time.perf_counter() - begun)
            if quickest > _LONG:
                break
    return quickest
