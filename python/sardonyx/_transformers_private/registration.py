"""Registers the key/value caches of transformers as pytrees, which torch.export can flatten.

It does so only where transformers is loaded: a model that takes a cache has loaded it. A cache
whose layers hold only keys and values is two lists of these, as transformers' own registration has
it. Any other cache is flattened by `trees`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from sardonyx._base.errors import OnnxExporterError, refusal
from sardonyx._base.versions import installed

from .probing import MissingError, Probe, has, lookup

_Flatten = Callable[[Any], tuple[list[Any], Any]]
_Unflatten = Callable[[Iterable[Any], Any], Any]


class CacheForm(NamedTuple):
    """How a cache is decomposed into lists of tensors, or into caches, and made again.

    Attributes:
        path: of its class: "transformers.cache_utils.DynamicCache".
        flatten: returns these, and what else the cache is, which is JSON.
        unflatten: makes a cache of both.
    """

    path: str
    flatten: _Flatten
    unflatten: _Unflatten


def cache_forms() -> dict[type, CacheForm]:
    """Those of the caches of keys and values that transformers has; none where it is not loaded."""
    known = sys.modules.get("transformers.cache_utils")
    found: dict[type, CacheForm] = {}
    for name, flatten, unflatten in (
        ("DynamicCache", _flatten_dynamic, _unflatten_dynamic),
        ("EncoderDecoderCache", _flatten_pair, _unflatten_pair),
        ("StaticCache", _flatten_static, _unflatten_static),
    ):
        own: Any = getattr(known, name, None)
        if own is not None:
            found[own] = CacheForm(f"{own.__module__}.{own.__name__}", flatten, unflatten)
    return found


def register_caches(model: Any = None) -> None:
    """Registers the caches of transformers and of the module that `model` is of, once each."""
    known = sys.modules.get("transformers.cache_utils")
    if known is None:
        return
    _name_outputs()
    for kind, form in cache_forms().items():
        _register(kind, form.path, form.flatten, form.unflatten)
    from . import trees  # needs torch, which transformers has loaded

    base = getattr(known, "Cache", None)
    others: list[Any] = [*_subclasses(base), *_classes_beside(model), *_images()]
    for other in others:
        _register(other, f"{other.__module__}:{other.__qualname__}", trees.flatten, trees.unflatten)


def _name_outputs() -> None:
    """Some releases register outputs of models without the names of their tensors."""
    from sardonyx._torch_private import pytree

    base = getattr(sys.modules.get("transformers.utils.generic"), "ModelOutput", None)
    for kind in _subclasses(base):
        pytree.name_children(kind)


def _subclasses(base: Any) -> Iterator[type[Any]]:
    kinds: list[type[Any]] = [] if base is None else base.__subclasses__()
    for kind in kinds:
        yield kind
        yield from _subclasses(kind)


def _classes_beside(model: Any) -> Iterator[type]:
    """Classes of caches that stand beside the model's class, of no common base: xLSTMCache."""
    module = type(model).__module__
    if not module.startswith("transformers."):
        return
    for value in list(vars(sys.modules[module]).values()):
        own = isinstance(value, type) and value.__module__ == module
        if own and value.__name__.endswith("Cache"):
            yield value


def _images() -> Iterator[type]:
    """The lists of images that LayoutLMv2 makes."""
    known = sys.modules.get("detectron2.structures.image_list")
    if known is not None:
        yield known.ImageList


def _register(kind: type, name: str, flatten: _Flatten, unflatten: _Unflatten) -> None:
    from sardonyx._torch_private import pytree

    if kind in pytree.SUPPORTED_NODES:
        return

    def with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Any]:
        children, context = flatten(value)
        return list(zip(_keys(children, context), children, strict=True)), context

    pytree.register_pytree_node(
        kind, flatten, unflatten, serialized_type_name=name, flatten_with_keys_fn=with_keys
    )


def _keys(children: list[Any], context: Any) -> list[Any]:
    from sardonyx._torch_private import pytree

    if isinstance(context, dict):  # of `trees`, whose leaves have no names
        return [pytree.SequenceKey(i) for i in range(len(children))]
    names = context[0] if isinstance(context[0], list) else context
    return [pytree.MappingKey(name) for name in names]


_PAIRS = ["key_cache", "value_cache"]


def _flatten_dynamic(cache: Any) -> tuple[list[Any], Any]:
    """Keys and values, and the window of each layer, where layers hold nothing else."""
    if not hasattr(cache, "layers"):  # before transformers 4.54
        return [list(cache.key_cache), list(cache.value_cache)], [_PAIRS]
    from . import trees

    if not all(_is_of_pairs(layer) for layer in cache.layers):
        return trees.flatten(cache)
    held = [i for i, layer in enumerate(cache.layers) if layer.keys is not None]
    windows = [getattr(layer, "sliding_window", None) for layer in cache.layers]
    parts = [[getattr(cache.layers[i], name) for i in held] for name in ("keys", "values")]
    return parts, [_PAIRS, windows, held]


def _is_of_pairs(layer: Any) -> bool:
    names = ("DynamicLayer", "DynamicSlidingWindowLayer", "DummyLayer")
    known: Any = sys.modules["transformers.cache_utils"]
    return type(layer) in [getattr(known, name, None) for name in names]


def _unflatten_dynamic(children: Iterable[Any], context: Any) -> Any:
    if not isinstance(context, list):
        from . import trees

        return trees.unflatten(children, context)
    known: Any = sys.modules["transformers.cache_utils"]
    cache = known.DynamicCache()
    keys, values = map(list, children)
    # Those of transformers' own registration have no third entry, those before 4.54 no second.
    windows = context[1] if len(context) > 1 else []
    held = context[2] if len(context) > 2 else range(len(keys))
    for window in windows:
        windowed = None if window is None else known.DynamicSlidingWindowLayer(window)
        cache.layers.append(windowed or known.DynamicLayer())
    for layer, key, value in zip(held, keys, values, strict=True):
        if not _hold(cache.layers[layer], key, value):
            cache.update(key, value, layer)
    return cache


def _hold(layer: Any, key: Any, value: Any) -> bool:
    """Has a layer without a window hold keys and values as they are. An update of the empty layer
    would put a constant and a concatenation into programs that are captured. False for a layer that
    knows more than that."""
    known: Any = sys.modules["transformers.cache_utils"]
    if type(layer) is not known.DynamicLayer or not set(vars(layer)) <= _OF_LAYERS:
        return False
    layer.keys, layer.values, layer.is_initialized = key, value, True
    if hasattr(key, "shape"):  # pytree also unflattens with placeholders
        layer.dtype, layer.device = key.dtype, key.device
    return True


_OF_LAYERS = {"keys", "values", "is_initialized", "dtype", "device"}
_SIDES = ["self_attention_cache", "cross_attention_cache"]


def _flatten_pair(cache: Any) -> tuple[list[Any], Any]:
    sides = [getattr(cache, name) for name in _SIDES]
    updated = getattr(cache, "is_updated", None)
    if not isinstance(updated, dict) or not any(map(_is_static, sides)):
        return sides, _SIDES
    # The length of a static cache is data: a new cache would ask it whether there are keys.
    return sides, [_SIDES, [[layer, bool(known)] for layer, known in updated.items()]]


def _is_static(cache: Any) -> bool:
    return isinstance(cache, sys.modules["transformers.cache_utils"].StaticCache)


def _unflatten_pair(children: Iterable[Any], context: Any) -> Any:
    known: Any = sys.modules["transformers.cache_utils"]
    if context == _SIDES or not isinstance(context, list):
        return known.EncoderDecoderCache(*children)
    cache = known.EncoderDecoderCache.__new__(known.EncoderDecoderCache)
    vars(cache).update(zip(_SIDES, children, strict=True))
    cache.is_updated = dict(context[1])
    return cache


_LENGTH = "cumulative_length"


def _layers_know_their_length() -> None:
    layer = lookup("cache_utils", "StaticLayer")(1)
    if not hasattr(layer, _LENGTH):
        raise MissingError(f"static layers of this transformers have no {_LENGTH}")


STATIC = Probe(
    "static caches as inputs and outputs",
    has("cache_utils", "StaticCache", "StaticLayer"),
    _layers_know_their_length,
)
_STATIC = ["key_cache", "value_cache", _LENGTH]
# What a layer knows besides its tensors; all of it follows from them but the longest length.
_STATIC_FACTS = ("dtype", "device", "batch_size", "num_heads", "k_head_dim", "v_head_dim")


def _flatten_static(cache: Any) -> tuple[list[Any], Any]:
    known: Any = sys.modules["transformers.cache_utils"]
    if not STATIC.available:
        raise refusal(
            "SX1016",
            f"a StaticCache of transformers {installed('transformers')} cannot be exported: "
            f"{STATIC.reason}",
            "pip install --upgrade transformers",
            OnnxExporterError,
        )
    layers = cache.layers
    if any(type(each) is not known.StaticLayer or not each.is_initialized for each in layers):
        # Before its first run a cache has no keys; a layer with a window knows more than its keys.
        from . import trees

        return trees.flatten(cache)
    parts = [[getattr(layer, name) for layer in layers] for name in ("keys", "values")]
    parts.append([getattr(layer, _LENGTH) for layer in layers])
    return parts, [_STATIC, [layer.max_cache_len for layer in layers]]


def static_layer(layer: Any, keys: Any, values: Any, length: Any) -> Any:
    """The StaticLayer with keys and values [batch, heads, places, width], `length` of whose places
    are taken, which is a tensor without axes."""
    layer.keys, layer.values, layer.cumulative_length = keys, values, length
    layer.is_initialized = True
    if hasattr(keys, "shape"):  # pytree also unflattens with placeholders
        facts = (keys.dtype, keys.device, *keys.shape[:2], keys.shape[-1], values.shape[-1])
        for name, fact in zip(_STATIC_FACTS, facts, strict=True):
            setattr(layer, name, fact)
    return layer


def _unflatten_static(children: Iterable[Any], context: Any) -> Any:
    if not isinstance(context, list):
        from . import trees

        return trees.unflatten(children, context)
    known: Any = sys.modules["transformers.cache_utils"]
    layers = [
        static_layer(known.StaticLayer(longest), *tensors)
        for longest, *tensors in zip(context[1], *children, strict=True)
    ]
    cache = known.StaticCache.__new__(known.StaticCache)
    known.Cache.__init__(cache, layers=layers)
    return cache
