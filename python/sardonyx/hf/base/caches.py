"""Caches as tensors with names, whatever class they are of.

The model is run, and the tensors of the cache that it fills are found by their paths. Dynamic
dimensions are those that differ between runs of two sizes. This code knows no class of caches. As
an input of a model, a cache holds all past tokens, and the mask hides those outside of a sliding
window. Runtimes keep it in the same way.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from sardonyx._base.errors import CaptureError, refusal
from sardonyx._transformers_private.trees import flatten, unflatten

PAST_LENGTH = "past_sequence_length"
# What names of inputs and outputs for a cache begin with.
PAST, PRESENT = "past_key_values.", "present."
# The place of the first new token in a cache of one size, [1].
POSITION = "cache_position"

# How a tensor in a cache is called, by the end of the path at which it stands.
_KINDS = {
    "keys": "key",
    "values": "value",
    "conv_states": "conv_state",
    "recurrent_states": "recurrent_state",
    "indexer_keys": "indexer_key",
}
# A number in a cache that is the length of the past, which is not the example's at run time.
_LENGTH = {"_t": "past length"}


@dataclass(frozen=True)
class CachedTensor:
    """A tensor of a cache.

    Attributes:
        name: behind "past_key_values." or "present.": "0.key", "3.decoder.value".
        shape: its sizes, by name where they vary.
        dtype: its element type.
        filled: how many zeros the last axis has that the model knows nothing of.
    """

    name: str
    shape: tuple[int | str, ...]
    dtype: torch.dtype
    filled: int = 0

    @property
    def past(self) -> str:
        """The input's name."""
        return f"{PAST}{self.name}"

    @property
    def present(self) -> str:
        """The output's name."""
        return f"{PRESENT}{self.name}"

    @property
    def dims(self) -> dict[int, str]:
        """The axes that vary, and their names."""
        return {axis: size for axis, size in enumerate(self.shape) if isinstance(size, str)}

    def example(self, sizes: Mapping[str, int]) -> torch.Tensor:
        """Zeros, which hold no past."""
        shape = [sizes[size] if isinstance(size, str) else size for size in self.shape]
        return torch.zeros(shape, dtype=self.dtype)

    def without_zeros(self, tensor: torch.Tensor) -> torch.Tensor:
        """What the model has of it."""
        return tensor[..., : -self.filled] if self.filled else tensor

    def with_zeros(self, tensor: torch.Tensor) -> torch.Tensor:
        """What runtimes have of it."""
        return torch.nn.functional.pad(tensor, (0, self.filled)) if self.filled else tensor


@dataclass(frozen=True)
class CacheLayout:
    """The tensors of a cache, and what makes a cache of them again."""

    tensors: tuple[CachedTensor, ...]
    context: Any

    def cache_of(self, tensors: Sequence[torch.Tensor], past_length: Any) -> Any:
        """A cache with these tensors, which it may write to."""
        context = _with_length(self.context, len(tensors))
        own: list[Any] = [
            known.without_zeros(tensor) if PAST_LENGTH in known.shape else tensor.clone()
            for tensor, known in zip(tensors, self.tensors, strict=True)
        ]
        return unflatten([*own, past_length], context)

    def tensors_of(self, cache: Any) -> list[torch.Tensor]:
        """The tensors of a cache that the model returned, in the order of `tensors`."""
        flat: list[torch.Tensor] = flatten(cache)[0]
        if len(flat) != len(self.tensors):
            raise CaptureError(
                f"the cache has {len(flat)} tensors after a run and {len(self.tensors)} before"
            )
        pairs = zip(flat, self.tensors, strict=True)
        return [known.with_zeros(tensor) for tensor, known in pairs]

    def of_one_width(self) -> CacheLayout:
        """With keys and values that are equally wide in all layers, for runtimes that know one size
        of heads: what is narrower is filled with zeros."""
        known = [each.shape[3] for each in self.tensors if len(each.shape) == 4]
        widest = max((size for size in known if isinstance(size, int)), default=0)
        return CacheLayout(tuple(_widened(each, widest) for each in self.tensors), self.context)


def _widened(cached: CachedTensor, width: int) -> CachedTensor:
    own = cached.shape[-1]
    if len(cached.shape) != 4 or not isinstance(own, int) or PAST_LENGTH not in cached.shape:
        return cached
    return replace(cached, shape=(*cached.shape[:-1], width), filled=width - own)


def layout_of(caches: Sequence[Any], sizes: Sequence[Mapping[str, int]]) -> CacheLayout:
    """The layout of caches that the model made in runs of several sizes.

    SX2009 where they hold something else than tensors that varies, or sizes that are none of
    `sizes`.
    """
    flat = [flatten(cache) for cache in caches]
    context = copy.deepcopy(flat[0][1])
    for (_, other), size in zip(flat[1:], sizes[1:], strict=True):
        context = _common(context, other, sizes[0], size, "cache")
    names = dict(_names(context))
    counts = {len(tensors) for tensors, _ in flat}
    if len(counts) != 1 or len(names) != len(flat[0][0]):
        raise refusal("SX2009", "the cache has other tensors at other lengths")
    tensors = []
    for index in range(len(flat[0][0])):
        shapes = [tuple(map(int, made[index].shape)) for made, _ in flat]
        shape = _shape(names[index], shapes, sizes)
        tensors.append(CachedTensor(names[index], shape, flat[0][0][index].dtype))
    return CacheLayout(tuple(tensors), context)


def _shape(
    name: str, shapes: Sequence[tuple[int, ...]], sizes: Sequence[Mapping[str, int]]
) -> tuple[int | str, ...]:
    found: list[int | str] = []
    for axis, several in enumerate(zip(*shapes, strict=True)):
        if len(set(several)) == 1:
            found.append(several[0])
            continue
        called = [
            each
            for each in sizes[0]
            if all(s[each] == n for s, n in zip(sizes, several, strict=True))
        ]
        if not called:
            raise refusal(
                "SX2009",
                f"the cache's '{name}' has {' and '.join(map(str, several))} elements along axis "
                f"{axis} for {' and '.join(map(str, sizes))}",
                "export without a cache: leave `-with-past` out of the task",
            )
        found.append(called[0])
    return tuple(found)


def _common(
    first: Any, second: Any, sizes: Mapping[str, int], others: Mapping[str, int], path: str
) -> Any:
    """What two caches have in common, with the length of the past where they hold it."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return {
            key: _common(first[key], second[key], sizes, others, f"{path}.{key}") for key in first
        }
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = zip(first, second, strict=True)
        return [_common(a, b, sizes, others, f"{path}.{i}") for i, (a, b) in enumerate(pairs)]
    if first == second:
        return first
    if (first, second) == (sizes.get(PAST_LENGTH), others.get(PAST_LENGTH)):
        return dict(_LENGTH)
    raise refusal(
        "SX2009",
        f"the cache holds {first!r} and {second!r} at {path}, which is no tensor, and no length",
        "export without a cache: leave `-with-past` out of the task",
    )


def _with_length(context: Any, length: int) -> Any:
    """With the length of the past as the leaf of that number."""
    if context == _LENGTH:
        return {"_t": "sym", "i": length}
    if isinstance(context, dict):
        return {key: _with_length(value, length) for key, value in context.items()}
    if isinstance(context, list):
        return [_with_length(value, length) for value in context]
    return context


def _names(context: Any) -> Iterator[tuple[int, str]]:
    """The name of each tensor, by its number."""
    taken: set[str] = set()
    for index, path in _paths(context, ()):
        name = _name(path)
        if name in taken:
            name = f"{name}_{index}"
        taken.add(name)
        yield index, name


def _paths(context: Any, path: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    if isinstance(context, dict):
        kind = context.get("_t")
        if kind == "tensor":
            yield context["i"], path
        elif kind == "items":
            for key, value in context["v"]:
                yield from _paths(value, (*path, str(key)))
        elif kind in ("obj", "map"):
            for key, value in context["s" if kind == "obj" else "v"].items():
                yield from _paths(value, (*path, key))
        elif kind == "seq":
            yield from _paths(context["v"], path)
        elif kind is None:
            for key, value in context.items():
                yield from _paths(value, (*path, str(key)))
    elif isinstance(context, list):
        for number, value in enumerate(context):
            yield from _paths(value, (*path, str(number)))


def _in_layer(attribute: str) -> tuple[str, ...]:
    """("0", "recurrent_states") of "model.layers.0.mixer.recurrent_states"."""
    *modules, name = attribute.split(".")
    layer = next((each for each in modules if each.isdigit()), None)
    return (*modules, name) if layer is None else (layer, name)


def _name(path: tuple[str, ...]) -> str:
    """ "0.key" of ("layers", "0", "keys"); "0.decoder.key" of one of a pair of caches."""
    side = ""
    if path[0] == "states":  # of modules, by the path of the attribute
        path = _in_layer(path[-1])
    elif path[0] == "cache":  # next to such states
        path = path[1:]
    if path[0] in ("self_attention_cache", "cross_attention_cache"):
        side = "decoder." if path[0].startswith("self") else "encoder."
        path = path[1:]
    if path[0] == "layers" and len(path) > 2:
        path = path[1:]
    words = [_KINDS.get(part, part) for part in path]
    # The only state of its kind in a layer needs no number.
    if len(words) == 3 and words[2] == "0" and re.fullmatch(r".*_states?", words[1]):
        words.pop()
    if len(words) > 1 and words[0].isdigit():
        return f"{words[0]}.{side}" + "_".join(words[1:])
    return side + "_".join(words)
