"""Keys and values that are kept as integers, by scales that prompts show."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sardonyx import _native
from sardonyx._base.errors import UsageError, refusal
from sardonyx._model.program import ONNXProgram
from sardonyx.hf.evaluation.generation import run_prompt
from sardonyx.hf.evaluation.sessions import MODEL, Sessions

# Bits by the name of the type. The CPU kernel of ONNX Runtime 1.32 has no float8.
CACHE_TYPES = {"int8": 8, "int4": 4}
CACHE_SCALES = ("channel", "tensor")
_LARGEST = {8: 127.0, 4: 7.0}
# By how much values may exceed the largest ones of the prompts without being clipped. In 8 bits,
# clipping a value costs more than a tenth coarser steps for all; in 4 bits it is the other way.
_HEADROOM = {8: 1.1, 4: 1.0}


@dataclass(frozen=True)
class CacheQuantization:
    """How keys and values are kept.

    Attributes:
        type: "int8" or "int4".
        scales: whether each channel of each head has a scale ("channel"), or all keys of a layer,
            and all of its values ("tensor").
        prompts: texts, or tokens [length] of texts, that the scales are chosen by.
    """

    type: str
    scales: str
    prompts: Sequence[str | torch.Tensor]

    def check(self) -> None:
        """SX1001 for types and scales that there are not, and without prompts."""
        for kind, name, known in (
            ("type of a cache", self.type, tuple(CACHE_TYPES)),
            ("kind of scales", self.scales, CACHE_SCALES),
        ):
            if name not in known:
                raise refusal(
                    "SX1001", f"there is no {kind} '{name}'", f"choose {' or '.join(known)}",
                    UsageError,
                )  # fmt: skip
        if not self.prompts:
            raise refusal(
                "SX1001",
                "the scales of a quantized cache are chosen by prompts, and there are none",
                "--cache-prompts FILE, with a prompt in each line",
                UsageError,
            )

    def apply(
        self, program: ONNXProgram, source: Path | None, scratch: Path, longest: int | None
    ) -> None:
        """Runs the model over the prompts, and has it keep keys and values in this type from then
        on. `source`: the folder of the tokenizer. `scratch`: a folder to write the model to.
        `longest`: how many tokens the model takes; prompts are cut to these."""
        scratch.mkdir(parents=True, exist_ok=True)
        _native.write(program._native, os.fspath(scratch / f"{MODEL}.onnx"))
        sessions = Sessions(scratch)
        kept = {name for pair in _native.cache_rotations(program._native) for name in pair[:2]}
        largest: dict[str, torch.Tensor] = {}
        for prompt in tokens_of(self.prompts, source):
            for name, value in run_prompt(sessions, prompt[:, :longest]).items():
                if name not in kept:  # a state
                    continue
                most = value.float().abs().amax(dim=(0, 2))  # [heads, head_size]
                largest[name] = torch.maximum(largest.get(name, most), most)
        bits = CACHE_TYPES[self.type]
        scales = {}
        for keys, values, rotated, neighbors in _native.cache_rotations(program._native):
            largest[keys] = _of_any_angle(largest[keys], rotated, neighbors)
            for name in (keys, values):
                most = largest[name] if self.scales == "channel" else largest[name].amax()
                scale = torch.where(most > 0, _HEADROOM[bits] * most / _LARGEST[bits], 1.0)
                scales[name] = scale.flatten().tolist()
        _native.quantize_caches(program._native, bits, scales)


def _of_any_angle(largest: torch.Tensor, rotated: int, neighbors: bool) -> torch.Tensor:
    """The largest magnitudes of keys [heads, head_size] at any position of a text. Pairs of
    channels are turned by an angle that grows with the position, and slowly for some: what is in
    one of them in a short prompt is in the other one in a long text. Where it is not known which
    are pairs, each channel may be one with the largest."""
    if rotated == 0:
        return (2**0.5 * largest.amax(-1, keepdim=True)).expand_as(largest)
    turned, rest = largest[:, :rotated], largest[:, rotated:]
    if neighbors:
        pairs = turned.unflatten(-1, (-1, 2)).square().sum(-1).sqrt()
        turned = pairs.repeat_interleave(2, -1)
    else:
        turned = turned.unflatten(-1, (2, -1)).square().sum(-2).sqrt().repeat(1, 2)
    return torch.cat([turned, rest], -1)


def tokens_of(prompts: Sequence[str | torch.Tensor], source: Path | None) -> list[torch.Tensor]:
    """The tokens of each prompt, [1, length]. SX1001 for texts without a tokenizer."""
    tokenizer: Any = None
    found = []
    for prompt in prompts:
        if isinstance(prompt, str):
            tokenizer = tokenizer or _tokenizer(source)
            ids = torch.tensor(tokenizer(prompt)["input_ids"], dtype=torch.int64)
        else:
            ids = torch.as_tensor(prompt, dtype=torch.int64)
        if ids.numel():
            found.append(ids.reshape(1, -1))
    if not found:
        raise refusal("SX1001", "the prompts have no tokens", "", UsageError)
    return found


def _tokenizer(source: Path | None) -> Any:
    import transformers

    try:
        if source is None:
            raise OSError("a model in memory has no tokenizer")
        return transformers.AutoTokenizer.from_pretrained(source, local_files_only=True)
    except (OSError, ValueError) as error:
        raise refusal(
            "SX1001",
            f"the prompts are texts, and there is no tokenizer for them: {error}",
            "give tokens: cache_prompts=[torch.tensor([1, 2, 3])] of sardonyx.hf.export",
            UsageError,
        ) from error
