"""A cache in the form that onnxruntime-genai keeps: pairs of tensors in layers with numbers.

It has buffers for keys and values of layers, and for two states of layers: `conv_state` and
`recurrent_state`. Each state has the same shape in all layers. Other tensors of a model's cache
go into further layers, or all into one state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod
from typing import Any

import torch

from .caches import PAST, PAST_LENGTH, CachedTensor, CacheLayout
from .example import BATCH

PAIRED_STATES = ("conv_state", "recurrent_state")
# More axes than these mean a window of states to the runtime.
_MAX_RANKS = dict(zip(PAIRED_STATES, (3, 4), strict=True))
_NUMBER, _KIND = r"(\d+)\.", r"(key|value)"


def is_state(name: str) -> bool:
    """Whether the input of a model is a state of a layer, which has no length."""
    return name.startswith(PAST) and name.endswith(tuple(f".{kind}" for kind in PAIRED_STATES))


@dataclass(frozen=True)
class _Kept:
    """A tensor of the runtime's, and what it is of the model's.

    Attributes:
        tensor: as the runtime has it.
        source: the model's tensor of that number, [batch, ...]; None for what it has none of.
        is_read: whether the model reads it; otherwise it is a copy, or nothing.
        has_heads: whether the runtime has an axis for heads that the model has not.
        packed: the numbers and sizes of the tensors that it holds one after another instead.
    """

    tensor: CachedTensor
    source: int | None = None
    is_read: bool = True
    has_heads: bool = False
    packed: tuple[tuple[int, tuple[int, ...]], ...] = ()

    def give(self, tensor: torch.Tensor, own: list[Any]) -> None:
        """Puts what the model has of the runtime's tensor among its own."""
        if self.packed:
            counts = [prod(sizes) for _, sizes in self.packed]
            parts = tensor.flatten(1).split(counts, 1)
            for (number, sizes), part in zip(self.packed, parts, strict=True):
                own[number] = part.unflatten(1, sizes)
        elif self.source is not None and self.is_read:
            own[self.source] = tensor.squeeze(1) if self.has_heads else tensor

    def taken(self, own: Sequence[torch.Tensor]) -> torch.Tensor:
        """What the runtime has of the model's own tensors."""
        if self.packed:
            return torch.cat([own[number].flatten(1) for number, _ in self.packed], 1).unsqueeze(1)
        if self.source is None:
            sizes = [own[0].shape[0], *_sizes(self.tensor)]
            return own[0].new_zeros(sizes, dtype=self.tensor.dtype)
        return own[self.source].unsqueeze(1) if self.has_heads else own[self.source]


@dataclass(frozen=True)
class PairedLayout(CacheLayout):
    """A layout whose tensors are the runtime's."""

    own: CacheLayout
    kept: tuple[_Kept, ...]

    def cache_of(self, tensors: Sequence[torch.Tensor], past_length: Any) -> Any:
        """A cache of the model's with what the runtime's tensors hold."""
        found: list[Any] = [None] * len(self.own.tensors)
        for kept, tensor in zip(self.kept, tensors, strict=True):
            kept.give(tensor, found)
        return self.own.cache_of(found, past_length)

    def tensors_of(self, cache: Any) -> list[torch.Tensor]:
        """The runtime's tensors for a cache that the model returned."""
        own = self.own.tensors_of(cache)
        return [kept.taken(own) for kept in self.kept]


def in_pairs(layout: CacheLayout) -> CacheLayout:
    """The layout as the runtime has it, where it can hold all of it."""
    own = layout.of_one_width()
    numbers = [n for n, each in enumerate(own.tensors) if PAST_LENGTH in each.shape]
    kept = [_Kept(own.tensors[n], n) for n in numbers if _is(own.tensors[n].name, _NUMBER + _KIND)]
    others = [(n, own.tensors[n]) for n in numbers if n not in {each.source for each in kept}]
    states = [(n, each) for n, each in enumerate(own.tensors) if n not in numbers]
    first = 1 + max((int(each.tensor.name.partition(".")[0]) for each in kept), default=-1)
    kept += _further_layers(others, first)
    kept += _states(states)
    if all(each.source == n and not each.has_heads for n, each in enumerate(kept)):
        return own
    return PairedLayout(tuple(each.tensor for each in kept), own.context, own, tuple(kept))


def _is(name: str, pattern: str) -> bool:
    return re.fullmatch(pattern, name) is not None


def _further_layers(others: list[tuple[int, CachedTensor]], layer: int) -> Iterator[_Kept]:
    """What grows, and is neither keys nor values, as keys and values of further layers: two that
    are equally large are a pair, and the last one is there twice."""
    fitting = [(n, each) for n, each in others if _has_tokens(each)]
    yield from (_Kept(each, n) for n, each in others if not _has_tokens(each))
    fitting.sort(key=lambda pair: (str(pair[1].shape), str(pair[1].dtype)))
    for _, group in groupby(fitting, key=lambda pair: (pair[1].shape, pair[1].dtype)):
        alike = list(group)
        for place in range(0, len(alike), 2):
            for kind, (n, each) in zip(
                ("key", "value"), (alike[place : place + 2] * 2)[:2], strict=True
            ):
                shape = each.shape if len(each.shape) == 4 else (each.shape[0], 1, *each.shape[1:])
                tensor = replace(each, name=f"{layer}.{kind}", shape=shape)
                is_read = kind == "key" or len(alike) > place + 1
                yield _Kept(tensor, n, is_read, has_heads=len(each.shape) == 3)
            layer += 1


def _has_tokens(tensor: CachedTensor) -> bool:
    """Whether it is [batch, tokens, width], or [batch, heads, tokens, width]."""
    rank = len(tensor.shape)
    others = [size for size in tensor.shape[1:] if size != PAST_LENGTH]
    return (
        rank in (3, 4)
        and tensor.shape[0] == BATCH
        and tensor.shape[rank - 2] == PAST_LENGTH
        and all(isinstance(size, int) for size in others)
    )


def _states(states: list[tuple[int, CachedTensor]]) -> list[_Kept]:
    kept = [_Kept(each, n) for n, each in states]
    if not states or not all(_is_of_rows(each) for _, each in states):
        return kept
    if all(_is(each.name, _NUMBER + f"({'|'.join(PAIRED_STATES)})") for _, each in states):
        shapes = [_shapes(states, kind) for kind in PAIRED_STATES]
        ranks = zip(shapes, _MAX_RANKS.values(), strict=True)
        if all(len(each) <= 1 and all(len(s) <= most for s, _ in each) for each, most in ranks):
            return [*kept, *_companions(states)]
    packed = _packed(states)
    return packed if len(packed) == len(PAIRED_STATES) else kept


def _is_of_rows(tensor: CachedTensor) -> bool:
    """Whether it is of known sizes but for the number of rows, which comes first."""
    return tensor.shape[:1] == (BATCH,) and all(isinstance(n, int) for n in tensor.shape[1:])


def _sizes(tensor: CachedTensor) -> tuple[int, ...]:
    """Those of one row, where they are known."""
    return tuple(size for size in tensor.shape[1:] if isinstance(size, int))


def _shapes(states: list[tuple[int, CachedTensor]], kind: str) -> set[tuple[Any, torch.dtype]]:
    return {(each.shape, each.dtype) for _, each in states if each.name.endswith(f".{kind}")}


def _companions(states: list[tuple[int, CachedTensor]]) -> Iterator[_Kept]:
    """Nothing, for layers that have one state alone: the runtime has both or none."""
    names = {each.name for _, each in states}
    for layer in sorted({int(name.partition(".")[0]) for name in names}):
        for kind, other in (PAIRED_STATES, PAIRED_STATES[::-1]):
            name = f"{layer}.{other}"
            if name in names or f"{layer}.{kind}" not in names:
                continue
            known = _shapes(states, other) or {((BATCH, 1), states[0][1].dtype)}
            ((shape, dtype),) = known
            yield _Kept(CachedTensor(name, shape, dtype))


def _packed(states: list[tuple[int, CachedTensor]]) -> list[_Kept]:
    """All states of a type as one, [batch, 1, elements]: the two of one layer."""
    dtypes = list(dict.fromkeys(each.dtype for _, each in states))
    kept = []
    for dtype, kind in zip(dtypes, PAIRED_STATES, strict=False):
        parts = tuple((n, _sizes(each)) for n, each in states if each.dtype == dtype)
        count = sum(prod(sizes) for _, sizes in parts)
        tensor = CachedTensor(f"0.{kind}", (BATCH, 1, count), dtype)
        kept.append(_Kept(tensor, packed=parts))
    if len(dtypes) == 1:
        kept.append(_Kept(CachedTensor(f"0.{PAIRED_STATES[1]}", (BATCH, 1), dtypes[0])))
    return kept if len(dtypes) <= len(PAIRED_STATES) else []
