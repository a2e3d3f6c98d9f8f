"""Key/value caches of transformers, by their classes, whatever parameters are called."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .probing import MissingError, lookup

# Annotations name the class: "Cache | None", "Optional[transformers.cache_utils.DynamicCache]".
_CLASS = re.compile(r"\b\w*Cache\b")
_KEYED = re.compile(r"\b[Dd]ict\b")
# What parameters for the cache of a decoder have been called, where no annotation says that they
# are for one, or where a model's cache is a list of states, the newest name first.
_NAMES = ("cache", "past_key_values", "cache_params", "past_key_value", "layer_past", "state")
_TOKENS = {"input_ids", "inputs_embeds"}


def is_cache(value: Any) -> bool:
    """Whether it is a cache of transformers, or of a model's own class that is called one."""
    return any(kind.__name__.endswith("Cache") for kind in type(value).__mro__)


def cache_parameter(model: Any) -> str | None:
    """What forward() of a model, or of a class of models, calls the cache of its decoder; None
    where it takes none. One that forward() only passes on, in **kwargs, has the name that the
    module within takes it by."""
    parameters = _parameters(model)
    found = _of_cache(parameters)
    if found is None and any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        found = next(filter(None, map(_of_cache, _decoders_within(model))), None)
    return found


def _parameters(model: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(model.forward).parameters)
    except (TypeError, ValueError, AttributeError):
        return {}


def _of_cache(parameters: Mapping[str, inspect.Parameter]) -> str | None:
    kinds = {
        name: "" if each.annotation is each.empty else str(each.annotation)
        for name, each in parameters.items()
    }
    by_class = [name for name, kind in kinds.items() if _CLASS.search(kind)]
    by_name = [n for n in _NAMES if n in kinds and not _KEYED.search(kinds[n])]
    known = [name for name in by_name if name in by_class]
    return next(iter([*known, *by_class, *by_name]), None)


def _decoders_within(model: Any) -> Iterator[dict[str, inspect.Parameter]]:
    if isinstance(model, type):
        return
    for module in model.modules():
        parameters = _parameters(module)
        if module is not model and not _TOKENS.isdisjoint(parameters):
            yield parameters


def returned_cache(result: Any, name: str, given: Any = None) -> Any:
    """The cache among what forward() returned: the one that it was `given`, that of the name that
    forward() takes it by, or any other. None where there is none."""
    values = dict(result.items() if isinstance(result, Mapping) else enumerate(result))
    if given is not None and any(value is given for value in values.values()):
        return given
    if values.get(name) is not None:
        return values[name]
    return next((value for value in values.values() if is_cache(value)), None)


def new_cache(config: Any) -> Any:
    """An empty cache for a decoder, with no windows."""
    from transformers import DynamicCache

    cache = DynamicCache(config=config)
    cache.layers = [_without_window(layer) for layer in cache.layers]
    return cache


def new_cache_of_both(config: Any) -> Any:
    """An empty cache for a decoder that looks at an encoder, with no windows."""
    from transformers import DynamicCache, EncoderDecoderCache

    return EncoderDecoderCache(new_cache(config), DynamicCache())


def has_windows(cache: Any) -> bool:
    """Whether the cache of a model's own keeps less than all of the past."""
    layers = getattr(getattr(cache, "self_attention_cache", cache), "layers", ())
    return any(_without_window(layer) is not layer for layer in layers)


def _without_window(layer: Any) -> Any:
    """A layer that keeps all of the past, in place of one that keeps a window of it."""
    for windowed, whole in (
        ("LinearAttentionAndSlidingWindowAttentionLayer", "LinearAttentionAndFullAttentionLayer"),
        ("DynamicSlidingWindowLayer", "DynamicLayer"),
    ):
        try:
            kind, plain = (lookup("cache_utils", name) for name in (windowed, whole))
        except MissingError:
            continue
        if type(layer) is kind:
            states = getattr(layer, "number_of_states", None)
            return plain() if states is None else plain(states)
    return layer
