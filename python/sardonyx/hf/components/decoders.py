"""Models that are run token by token, with their cache as inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from sardonyx._base.errors import UsageError, refusal
from sardonyx._transformers_private.caches import cache_parameter, new_cache, returned_cache
from sardonyx.hf.base.caches import PAST_LENGTH, POSITION, CacheLayout, layout_of
from sardonyx.hf.base.example import BATCH, LENGTH, TOTAL_LENGTH, Dims, Tensors, token_ids
from sardonyx.hf.base.paired_caches import in_pairs
from sardonyx.hf.base.parts import EMBEDDINGS, Part, accepted
from sardonyx.hf.base.settings import setting
from sardonyx.hf.inputs.frames import TokenFrames, frames_of
from sardonyx.hf.inputs.input_search import text_stands_alone
from sardonyx.hf.inputs.meta_execution import counted_calls, probe

from .module_states import cache_after_first_run, run_with_cache
from .static_caches import CHECKED_PLACES, StaticCache, counts_from_last_key, without_places

# The sizes of the runs that show what a cache holds, and those of the example. Code that goes over
# tokens in chunks (of 64, mostly) shows that it does where there are more of them than a few.
_RUNS = ((2, 5), (3, 7))
_LONG = 131
_BATCH, _PAST, _LENGTH = 2, 5, 3
_NO_PAST = "leave `-with-past` out"


class Decoder(torch.nn.Module):
    """A decoder from tokens and a cache to logits and the cache with these tokens."""

    def __init__(
        self,
        model: torch.nn.Module,
        argument: str,
        layout: CacheLayout,
        frames: TokenFrames,
        static: StaticCache | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self._argument = argument
        self._layout = layout
        self._frames = frames
        self._static = static

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """The logits, then the cache's tensors."""
        given = dict(inputs)
        past = [given.pop(each.past) for each in self._layout.tensors]
        tokens = given[EMBEDDINGS] if EMBEDDINGS in given else given["input_ids"]
        length = given.get("attention_mask", tokens).shape[1]
        cache = self._layout.cache_of(past, length - tokens.shape[1])
        former = []
        if self._static is not None:
            position = given.pop(POSITION)
            former = self._static.give(cache, position, self.model)
            if (mask := given.get("attention_mask")) is not None:
                given["attention_mask"] = self._static.mask(mask, position, tokens.shape[1])
        elif not _grows(self._layout) and (mask := given.get("attention_mask")) is not None:
            given["attention_mask"] = mask[:, -tokens.shape[1] :]
        if "input_ids" in given:
            given["input_ids"] = self._frames.taken(given["input_ids"])
        result, after = run_with_cache(self.model, self._argument, cache, given)
        if self._static is not None:
            self._static.take(after, former)
        return (result.logits, *self._layout.tensors_of(after))


def decoder_part(
    model: torch.nn.Module,
    config: Any,
    paired: bool = False,
    *,
    name: str = "model",
    change: Callable[[Tensors, Dims], tuple[Tensors, Dims]] | None = None,
    static: StaticCache | None = None,
) -> Part:
    """The decoder with its cache. With `paired`, it has the form that onnxruntime-genai keeps, and
    a mask goes over all tokens of a text. `change` returns the inputs to use in place of its own.
    With `static`, the cache has one size. Raises SX2009 where its cache cannot be flattened into
    tensors."""
    taken = accepted(model)
    argument = cache_parameter(model)
    if argument is None:
        raise refusal("SX2009", f"{type(model).__name__} takes no cache", _NO_PAST)
    if not text_stands_alone(model):
        raise refusal(
            "SX2009",
            f"{type(model).__name__} puts images before the text, and keeps both in its cache",
            _NO_PAST,
        )
    frames = TokenFrames()
    try:
        layout, loops = _layout(model, config, argument, frames)
    except Exception:
        frames = frames_of(model, config)
        if not frames.codes:
            raise
        layout, loops = _layout(model, config, argument, frames)
    if paired:
        layout = in_pairs(layout)
    inputs = [
        _inputs(config, taken, layout, length, frames.codes, whole_mask=paired)
        for length in (1, _LENGTH)
    ]
    if static is not None:
        static = static.of(layout, model)
        checked = replace(static, places=CHECKED_PLACES)
        examples = [checked.inputs(*each, layout, _PAST)[0] for each in inputs]
        module = Decoder(model, argument, checked.layout(layout), frames, checked)
        _check_places(module, examples)
        inputs = [static.inputs(*each, layout, _PAST) for each in inputs]
        layout = static.layout(layout)
    module = Decoder(model, argument, layout, frames, static)
    outputs = ("logits", *(each.present for each in layout.tensors))
    why = _check_kept(module, layout, inputs[1][0])
    changed = (change(*each) if change else each for each in inputs)
    one, any_number = (Part(name, module, *each, outputs) for each in changed)
    return replace(any_number, one_token=one, loops=loops, fails_with_cache=why)


def has_cache(model: torch.nn.Module, config: Any) -> bool:
    """Whether the model takes a cache, or returns one, whatever it calls it."""
    if cache_parameter(model) is not None:
        return True
    ids = token_ids(config, *_RUNS[0])
    try:
        result = probe(model, lambda **given: model(**given, use_cache=True), input_ids=ids)
        return returned_cache(result, "") is not None
    except Exception:  # of what it takes no use_cache, or other inputs, nothing is known
        return "use_cache" in accepted(model)


def _check_places(module: Decoder, examples: Sequence[Tensors]) -> None:
    """SX2012 where the model cannot have places for its tokens, which examples for one and for
    several of them show."""

    def run(inputs: Tensors) -> object:
        return probe(module.model, lambda **given: module(given), **inputs)

    if counts_from_last_key(run, examples):
        why = "its own code takes the last of the keys, which is a free place, for the newest one"
        raise without_places(module.model, why)


def _check_kept(module: Decoder, layout: CacheLayout, inputs: Tensors) -> str:
    """SX2009 where a run with a past leaves something else than one without: some caches keep the
    tokens of the first run apart from all that follow. Returns why the model fails in that run,
    which matters where it cannot be captured for one token either."""
    try:
        _, *after = probe(module.model, lambda **given: module(given), **inputs)
    except UsageError:
        raise
    except Exception as error:
        return f"{type(module.model).__name__} does not run with its cache: {_first_line(error)}"
    for known, tensor in zip(layout.tensors, after, strict=True):
        fixed = [each if isinstance(each, int) else None for each in known.shape]
        if len(fixed) != tensor.dim() or any(
            size not in (None, int(now)) for size, now in zip(fixed, tensor.shape, strict=True)
        ):
            raise refusal(
                "SX2009",
                f"the cache's '{known.name}' is {list(known.shape)} after the first run, and "
                f"{list(map(int, tensor.shape))} after the second",
                _NO_PAST,
            )
    return ""


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"


def _layout(
    model: torch.nn.Module, config: Any, argument: str, frames: TokenFrames
) -> tuple[CacheLayout, bool]:
    """The layout of the cache, and whether more calls are made for more tokens."""
    try:
        return _layout_of_runs(model, config, argument, _long_runs(config), frames)
    except Exception:  # where the model's own cache ends at a window, say
        return _layout_of_runs(model, config, argument, _RUNS, frames)


def _long_runs(config: Any) -> tuple[tuple[int, int], ...]:
    longest = setting(config, "max_position_embeddings", "n_positions", default=_LONG + 1)
    return _RUNS[0], (_RUNS[1][0], max(_RUNS[1][1], min(_LONG, longest - 1)))


def _layout_of_runs(
    model: torch.nn.Module,
    config: Any,
    argument: str,
    runs: Sequence[tuple[int, int]],
    frames: TokenFrames,
) -> tuple[CacheLayout, bool]:
    caches, sizes, calls = [], [], []
    for batch, length in runs:
        ids = token_ids(config, batch, length, codes=frames.codes)
        given: dict[str, Any] = {"input_ids": frames.taken(ids)}
        if "attention_mask" in accepted(model):
            given["attention_mask"] = torch.ones(batch, length, dtype=torch.int64)
        with counted_calls() as counted:
            caches.append(_cache_after(model, config, argument, given))
        sizes.append({BATCH: batch, PAST_LENGTH: length})
        calls.append(counted)
    if len({each.on_meta for each in calls}) > 1:  # now that it is known, all on fake tensors
        return _layout_of_runs(model, config, argument, runs, frames)
    return layout_of(caches, sizes), len({each.without_data for each in calls}) > 1


def _cache_after(model: torch.nn.Module, config: Any, argument: str, given: dict[str, Any]) -> Any:
    """The cache that a run leaves: ours, or the model's own where it takes none of ours."""

    def run(make: Any) -> Any:
        def call(**inputs: Any) -> Any:
            return cache_after_first_run(model, argument, make(), inputs)

        return probe(model, call, **given)

    try:
        found = run(lambda: new_cache(config))
    except Exception:
        try:
            found = run(lambda: None)
        except Exception as error:
            raise refusal(
                "SX2009",
                f"{type(model).__name__} does not run with a cache: {_first_line(error)}",
                _NO_PAST,
            ) from error
    if found is None:
        raise refusal(
            "SX2009",
            f"{type(model).__name__} neither returns a cache nor keeps one in its modules",
            _NO_PAST,
        )
    return found


def _grows(layout: CacheLayout) -> bool:
    return any(PAST_LENGTH in each.shape for each in layout.tensors)


def _inputs(
    config: Any,
    taken: set[str],
    layout: CacheLayout,
    length: int,
    codes: int,
    *,
    whole_mask: bool,
) -> tuple[Tensors, Dims]:
    """Tokens after a past, with a mask over both, or over the tokens where the past has no length:
    models that keep a state alone hide with it what the state takes in. With `whole_mask`, it is
    over both for these, too."""
    rows = {0: BATCH} if length == 1 else {0: BATCH, 1: LENGTH}
    inputs: Tensors = {"input_ids": token_ids(config, _BATCH, length, codes=codes)}
    dims: Dims = {"input_ids": rows}
    if "attention_mask" in taken:
        grows = whole_mask or _grows(layout)
        inputs["attention_mask"] = torch.ones(
            _BATCH, _PAST + length if grows else length, dtype=torch.int64
        )
        dims["attention_mask"] = {0: BATCH, 1: TOTAL_LENGTH} if grows else rows
    if "position_ids" in taken:
        positions = torch.arange(_PAST, _PAST + length)
        inputs["position_ids"] = positions.expand(_BATCH, length).contiguous()
        dims["position_ids"] = rows
    sizes = {BATCH: _BATCH, PAST_LENGTH: _PAST}
    for each in layout.tensors:
        inputs[each.past] = each.example(sizes)
        dims[each.past] = each.dims
    return inputs, dims
