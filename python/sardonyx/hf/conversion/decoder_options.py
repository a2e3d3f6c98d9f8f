"""How a decoder is to be run: options of an export beside its precision and runtime."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from sardonyx import _native
from sardonyx._base.errors import UsageError, refusal
from sardonyx._model.program import ONNXProgram
from sardonyx.hf.base.caches import PAST, POSITION, PRESENT
from sardonyx.hf.base.parts import Part, variants
from sardonyx.hf.components.static_caches import StaticCache
from sardonyx.hf.output.genai import is_for, keys_and_values, shares_cache, takes_drafts

from .quantized_cache import CacheQuantization

_TOKEN_AXIS = 2  # of keys and values
HIDDEN_STATES = "hidden_states"


@dataclass(frozen=True)
class DecoderOptions:
    """Options of a decoder.

    Attributes:
        split: how many files the layers become; None for one file of all.
        last_logits: whether logits are of the last token alone.
        hidden_states: whether what the head reads is an output, too.
        draft: the folder of a checkpoint that proposes tokens.
        mtp: a head for multi-token prediction of transformers', which reads the hidden states; True
            for that of the checkpoint.
        cache: how keys and values are quantized; None where they are not.
        static_cache: for how many tokens the cache has places; None for one that grows.
    """

    split: int | None = None
    last_logits: bool = False
    hidden_states: bool = False
    draft: Path | None = None
    static_cache: int | None = None
    cache: CacheQuantization | None = None
    mtp: Any = None

    def check(self, adapted: bool, runtime: str, in_place: bool) -> None:
        """SX1001 for a number that makes no sense, for adapters of a model of several files, and
        for a draft where the runtime uses none, or not with the other options."""
        if self.split is not None and self.split < 1:
            raise refusal("SX1001", f"there is no split into {self.split}", "", UsageError)
        if self.static_cache is not None and self.static_cache < 1:
            raise refusal(
                "SX1001", f"there is no cache for {self.static_cache} tokens", "", UsageError
            )
        if self.cache is not None:
            self.cache.check()
        if self.split is not None and adapted:
            raise refusal(
                "SX1001",
                "adapters are inputs of models that are one file, and --split makes several",
                "--merge-adapter merges them into the weights",
                UsageError,
            )

        if self.draft is not None or self.mtp is not None:
            self._check_draft(runtime, "--draft" if self.draft is not None else "--mtp")
        if self.mtp is not None and in_place:
            raise refusal(
                "SX1001",
                "--mtp and --weights-in-place exclude each other: the head is in a folder below, "
                "from which runtimes do not read the checkpoint's files",
                "-o FOLDER, without --weights-in-place",
                UsageError,
            )

    def _check_draft(self, runtime: str, option: str) -> None:
        """`option`: the one that drafts, which errors name."""
        if not is_for(runtime):
            raise refusal(
                "SX1001",
                f"there is no draft for {runtime}: onnxruntime-genai runs one next to the model",
                "--runtime onnxruntime-genai",
                UsageError,
            )
        if not takes_drafts(runtime):
            raise refusal(
                "SX1001",
                f"there is no draft for {runtime}: its kernel takes one token behind a cache, and "
                "a draft proposes several",
                "another --provider, or no --draft",
                UsageError,
            )
        others = {
            "--split": self.split is not None,
            "--last-logits": self.last_logits,
            "--mtp": self.mtp is not None and option == "--draft",
        }
        other = next((name for name, is_given in others.items() if is_given), None)
        if other is not None:
            raise refusal(
                "SX1001",
                f"{option} and {other} exclude each other: the runtime checks the tokens of one "
                "draft by the logits of one file for all of them",
                f"leave {other} out",
                UsageError,
            )

    def of_draft(self) -> DecoderOptions:
        """Those that the draft is exported with."""
        return DecoderOptions(static_cache=self.static_cache, cache=self.cache)

    @property
    def given(self) -> list[str]:
        """The options of the command line that are not as by default."""
        names = {
            "--split": self.split is not None,
            "--last-logits": self.last_logits,
            "--hidden-states": self.hidden_states,
            "--draft": self.draft is not None,
            "--mtp": self.mtp is not None,
            "--static-cache": self.static_cache is not None,
            "--cache-type": self.cache is not None,
        }
        return [name for name, is_given in names.items() if is_given]

    def one(self, parts: Iterable[Part]) -> Iterator[Part]:
        """The parts. SX2012 where options were given and there are several."""
        for number, part in enumerate(parts):
            if number and self.given:
                raise refusal(
                    "SX2012",
                    f"{' and '.join(self.given)}: for models that are one file, and this one is "
                    "several",
                    "export a task of the decoder alone",
                    UsageError,
                )
            yield part

    @property
    def changes_head(self) -> bool:
        """Whether the head takes or returns something else."""
        return self.last_logits or self._returns_states

    @property
    def _returns_states(self) -> bool:
        return self.hidden_states or self.mtp is not None

    def part(self, part: Part) -> Part:
        """The part with further outputs."""
        if not self._returns_states:
            return part
        others: dict[str, Any] = {
            name: self.part(other)
            for name in ("one_token", "one_row", "unpadded")
            if (other := getattr(part, name)) is not None
        }
        return replace(part, outputs=(*part.outputs, HIDDEN_STATES), **others)

    @contextmanager
    def in_force(self, part: Part) -> Iterator[None]:
        """Within it, the head reads the last token alone, and what it is given is returned. SX2012
        for a model without logits or without a head."""
        if not self.changes_head:
            yield
            return
        options = {
            "--last-logits": self.last_logits,
            "--hidden-states": self.hidden_states,
            "--mtp": self.mtp is not None,
        }
        head = _head(part, " and ".join(name for name, is_given in options.items() if is_given))
        read: list[torch.Tensor] = []

        def take(_: Any, args: tuple[Any, ...]) -> Any:
            read[:] = args[:1]
            return (args[0][:, -1:], *args[1:]) if self.last_logits else None

        def add(_: Any, __: Any, outputs: tuple[Any, ...]) -> Any:
            return (*outputs, read.pop()) if self._returns_states else None

        hooks = [head.register_forward_pre_hook(take)]
        modules = {id(each.module): each.module for each in variants(part)}
        hooks += [module.register_forward_hook(add) for module in modules.values()]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def captured_cache(self, runtime: str) -> StaticCache | None:
        """The cache of one size that a decoder is captured with; None for one that grows, to which
        onnxruntime-genai's operator gives its size."""
        if self.static_cache is None or is_for(runtime):
            return None
        return StaticCache(self.static_cache)

    def longest(self, tokens: int | None) -> int | None:
        """The tokens of the longest text, of `tokens` without these options."""
        known = [each for each in (tokens, self.static_cache) if each is not None]
        return min(known, default=None)

    def set_cache(
        self,
        program: ONNXProgram,
        part: Part,
        *,
        source: Path | None,
        scratch: Path,
        longest: int | None,
    ) -> None:
        """Gives the cache its type and size, where its reader writes new tokens behind the old ones
        in one buffer; one that was captured with places has its size. SX2012 for a model without a
        cache, and for one that something else reads. `source`: the folder of the tokenizer;
        `scratch`: one to write to; `longest`: the tokens of the longest text."""
        has_places = POSITION in part.inputs
        given = {
            "--static-cache": self.static_cache is not None and not has_places,
            "--cache-type": self.cache is not None,
        }
        option = " and ".join(name for name, is_given in given.items() if is_given)
        if not option:
            return
        native = program._native
        caches = keys_and_values(native)
        if not caches:
            raise _without_buffer(part, option, "there is no cache")
        if not shares_cache(native):
            raise _not_shared(part, option, native)
        if self.cache is not None:
            self.cache.apply(program, source, scratch, longest)
        if self.static_cache is None or has_places:
            return
        for name in caches:
            for each in (name, name.replace(PAST, PRESENT, 1)):
                _native.set_size(native, each, _TOKEN_AXIS, self.static_cache)

    def check_outputs(self, program: ONNXProgram, part: Part) -> None:
        """SX2012 where the head does not read all tokens at once, so that nothing was cut."""
        shapes = {name: shape or [] for name, _, shape in program._native.outputs}
        if self.last_logits and shapes["logits"][1:2] != [1]:
            raise _without_head(part, "--last-logits")


def _model_name(part: Part) -> str:
    return type(getattr(part.module, "model", part.module)).__name__


def _not_shared(part: Part, option: str, model: _native.Model) -> Exception:
    kinds = {kind for name in keys_and_values(model) for _, kind in _native.readers(model, name)}
    if kinds == {"Cast"}:
        return refusal(
            "SX2012",
            f"{option}: keys and values of {_model_name(part)} are in half precision, and the "
            "runtime's attention on this provider is computed in float32",
            "--precision fp32 or int4",
            UsageError,
        )
    why = "something else than GroupQueryAttention reads keys or values"
    return _without_buffer(part, option, why)


def _without_buffer(part: Part, option: str, why: str) -> Exception:
    return refusal(
        "SX2012",
        f"{option}: {why} of {_model_name(part)}",
        "--runtime onnxruntime-genai has that operator for most decoders",
        UsageError,
    )


def _head(part: Part, option: str) -> torch.nn.Module:
    model: Any = getattr(part.module, "model", None)
    get = getattr(model, "get_output_embeddings", None)
    head = get() if get is not None else None
    if "logits" not in part.outputs or not isinstance(head, torch.nn.Module):
        raise _without_head(part, option)
    return head


def _without_head(part: Part, option: str) -> Exception:
    return refusal(
        "SX2012",
        f"{option}: {_model_name(part)} has no head that makes logits of the hidden states of "
        "a text",
        "the options are for models that generate text",
        UsageError,
    )
