"""Key/value caches of transformers, by their classes, whatever parameters are called."""

from __future__ import annotations

import contextlib
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


def give_places(cache: Any, places: int, filled: Any) -> list[Any]:
    """Has the layers of the cache write into keys and values of `places` tokens, in place of those
    that grow; `filled` of the places are taken, which is a tensor without axes. Layers that have
    states alone stay. Returns the layers that there were. TypeError for a cache of another class,
    MissingError where transformers has no such layers."""
    kinds = _kinds_with_places()
    former = list(getattr(cache, "layers", ()))
    if not former:
        raise TypeError(f"a {type(cache).__name__} has no layers")
    layers = []
    for layer in former:
        # One that no layer of the model uses has none.
        used = getattr(layer, "keys", None) is not None
        kind = kinds.get(type(layer)) if used else None
        if used and kind is None:
            raise TypeError(f"a {type(layer).__name__} has no places")
        layers.append(layer if kind is None else _with_places(layer, kind, places, filled))
    cache.layers = layers
    return former


def _with_places(layer: Any, kind: Any, places: int, filled: Any) -> Any:
    import torch

    from .registration import static_layer

    states = getattr(layer, "number_of_states", None)
    static = kind(places) if states is None else kind(places, states)
    vars(static).update(vars(layer))
    made = static_layer(static, layer.keys, layer.values, filled.clone())
    # A program has masks for any number of tokens, which transformers does not ask then. Layers
    # that have states, too, say so themselves.
    with contextlib.suppress(AttributeError):
        made.is_compileable = not torch.compiler.is_compiling()
    # The layer counts on in the same tensor, also where a model asked before it wrote (Inkling).
    made.get_seq_length = made.cumulative_length.clone
    return made


def take_places(cache: Any, former: list[Any]) -> None:
    """Gives the cache the layers back that it had before give_places(), with what is in those that
    it has."""
    for layer, static in zip(former, cache.layers, strict=True):
        vars(layer).update({name: getattr(static, name) for name in vars(layer)})
    cache.layers = former


def _kinds_with_places() -> dict[Any, Any]:
    """The classes of layers that have places, by those of the layers that grow."""
    kinds = {lookup("cache_utils", "DynamicLayer"): lookup("cache_utils", "StaticLayer")}
    names = [f"LinearAttentionAnd{each}FullAttentionLayer" for each in ("", "Static")]
    with contextlib.suppress(MissingError):
        growing, static = (lookup("cache_utils", name) for name in names)
        kinds[growing] = static
    return kinds


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
