"""Makes the key/value caches of `transformers` structures that torch.export can take apart.

Only where `transformers` is loaded: a model that takes a cache has loaded it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any


def register_caches(model: Any = None) -> None:
    """Registers DynamicCache, EncoderDecoderCache, StaticCache and those of `model`, once each."""
    caches = sys.modules.get("transformers.cache_utils")
    if caches is None:
        return
    _register_dynamic(caches)
    pair = getattr(caches, "EncoderDecoderCache", None)
    if pair is not None:
        _register(pair, _flatten_pair, lambda parts, _: pair(*parts), _PAIR_KEYS)
    static = getattr(caches, "StaticCache", None)
    if static is not None and hasattr(caches, "StaticLayer"):
        _register(static, _flatten_static, _unflatten_static, _STATIC_KEYS)
    general = _general_exporter()
    if general is not None and type(model).__module__.startswith("transformers."):
        general.register_cache_pytrees_for_model(model)


def _general_exporter() -> Any:
    """Where transformers takes any cache apart, since 5.2; None before."""
    try:
        from transformers.exporters import exporter_dynamo
    except ImportError:
        return None
    known = ("register_cache_pytrees_for_model", "_pytree_flatten", "_pytree_unflatten")
    return exporter_dynamo if all(hasattr(exporter_dynamo, name) for name in known) else None


def _register_dynamic(caches: Any) -> None:
    from sardonyx._torch_private import pytree

    if caches.DynamicCache in pytree.SUPPORTED_NODES:
        return
    try:
        from transformers.integrations import executorch
    except ImportError:  # before transformers 4.56
        _register(caches.DynamicCache, _flatten_dynamic, _unflatten_dynamic, _DYNAMIC_KEYS)
        return
    general = _general_exporter()
    if general is None or not hasattr(executorch, "_get_dynamic_cache_layout"):
        executorch.register_dynamic_cache_export_support()
        return
    _register_dynamic_of_any_layers(caches.DynamicCache, executorch, general)


def _register_dynamic_of_any_layers(cache_type: Any, plain: Any, general: Any) -> None:
    """Keys and values where all layers hold those, in the form of transformers' own registration;
    caches with other layers (linear attention, state spaces) are taken apart as they come."""
    from sardonyx._torch_private import pytree

    def flatten(cache: Any) -> Any:
        try:
            layout = plain._get_dynamic_cache_layout(cache)
            return plain._flatten_cache_dict(plain._get_cache_dict(cache), layout)
        except (RuntimeError, AttributeError):
            return general._pytree_flatten(cache)

    def flatten_with_keys(cache: Any) -> Any:
        children, context = flatten(cache)
        names = context[0] if isinstance(context, list) else range(len(children))
        return [(pytree.MappingKey(n), c) for n, c in zip(names, children, strict=True)], context

    def unflatten(children: Iterable[Any], context: Any) -> Any:
        of_pairs = isinstance(context, list)
        make = plain._unflatten_dynamic_cache if of_pairs else general._pytree_unflatten
        return make(list(children), context)

    pytree.register_pytree_node(
        cache_type,
        flatten,
        unflatten,
        serialized_type_name=f"{cache_type.__module__}.{cache_type.__name__}",
        flatten_with_keys_fn=flatten_with_keys,
    )


def _register(
    cache: type,
    flatten: Callable[[Any], tuple[list[Any], Any]],
    unflatten: Callable[[Iterable[Any], Any], Any],
    keys: tuple[str, ...],
) -> None:
    from sardonyx._torch_private import pytree

    if cache in pytree.SUPPORTED_NODES:
        return

    def with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Any]:
        children, context = flatten(value)
        return [(pytree.MappingKey(k), c) for k, c in zip(keys, children, strict=True)], context

    pytree.register_pytree_node(
        cache,
        flatten,
        unflatten,
        serialized_type_name=f"{cache.__module__}.{cache.__name__}",
        flatten_with_keys_fn=with_keys,
    )


_DYNAMIC_KEYS = ("key_cache", "value_cache")


def _flatten_dynamic(cache: Any) -> tuple[list[Any], Any]:
    if hasattr(cache, "layers"):
        keys = [layer.keys for layer in cache.layers]
        values = [layer.values for layer in cache.layers]
    else:
        keys, values = list(cache.key_cache), list(cache.value_cache)
    return [keys, values], list(_DYNAMIC_KEYS)


def _unflatten_dynamic(children: Iterable[Any], _context: Any) -> Any:
    from transformers.cache_utils import DynamicCache

    keys, values = children
    cache = DynamicCache()
    for layer, (key, value) in enumerate(zip(keys, values, strict=True)):
        cache.update(key, value, layer)
    return cache


_PAIR_KEYS = ("self_attention_cache", "cross_attention_cache")


def _flatten_pair(cache: Any) -> tuple[list[Any], Any]:
    return [cache.self_attention_cache, cache.cross_attention_cache], list(_PAIR_KEYS)


_STATIC_KEYS = ("key_cache", "value_cache", "cumulative_length")
# What a layer knows besides its tensors; all of it follows from them but the longest length.
_STATIC_FACTS = ("dtype", "device", "batch_size", "num_heads", "k_head_dim", "v_head_dim")


def _flatten_static(cache: Any) -> tuple[list[Any], Any]:
    from transformers.cache_utils import StaticLayer

    if any(type(layer) is not StaticLayer or not layer.is_initialized for layer in cache.layers):
        raise TypeError("a StaticCache must hold initialised StaticLayers only to be exported")
    parts = [[getattr(layer, name) for layer in cache.layers] for name in ("keys", "values")]
    parts.append([layer.cumulative_length for layer in cache.layers])
    return parts, [list(_STATIC_KEYS), [layer.max_cache_len for layer in cache.layers]]


def _unflatten_static(children: Iterable[Any], context: Any) -> Any:
    from transformers.cache_utils import Cache, StaticCache, StaticLayer

    layers = []
    for longest, keys, values, length in zip(context[1], *children, strict=True):
        layer = StaticLayer(longest)
        layer.keys, layer.values, layer.cumulative_length = keys, values, length
        layer.is_initialized = True
        if hasattr(keys, "shape"):  # pytree also unflattens with placeholders
            facts = (keys.dtype, keys.device, *keys.shape[:2], keys.shape[-1], values.shape[-1])
            for name, fact in zip(_STATIC_FACTS, facts, strict=True):
                setattr(layer, name, fact)
        layers.append(layer)
    cache = StaticCache.__new__(StaticCache)
    Cache.__init__(cache, layers=layers)
    return cache
