"""The dynamic shapes that `dynamic=True` means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from sardonyx._torch_private import pytree
from sardonyx._transformers_private.caches import is_cache

_AUTO = torch.export.Dim.AUTO


def all_automatic(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Every dimension of every tensor is dynamic where the model does not specialize it."""
    return {name: _spec(value, _every_axis) for name, value in inputs.items()}


def all_above_one(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The same, except for dimensions that are 1 or 0 in the example: a model may remove or
    broadcast these."""

    def axes(tensor: torch.Tensor) -> Any:
        return {axis: _AUTO for axis, size in enumerate(tensor.shape) if size > 1}

    return {name: _spec(value, axes) for name, value in inputs.items()}


def with_one_past(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The same, except that all keys and values of a cache are equally long, and that the other
    dimensions of a cache are fixed but the first."""
    return {
        name: _of_cache(value, f"{name}_length") if is_cache(value) else _spec(value, _every_axis)
        for name, value in inputs.items()
    }


def _every_axis(tensor: torch.Tensor) -> Any:
    return dict.fromkeys(range(tensor.dim()), _AUTO)


def _of_cache(cache: Any, length: str) -> Any:
    parts = {
        part: getattr(cache, part, None)
        for part in ("self_attention_cache", "cross_attention_cache")
    }
    if all(is_cache(each) for each in parts.values()):
        return [_of_cache(each, f"{part}_length") for part, each in parts.items()]
    try:
        past = int(cache.get_seq_length())
    except Exception:  # of a model's own cache, which has no such method or no tokens
        return _spec(cache, _every_axis)

    def axes(tensor: torch.Tensor) -> Any:
        if tensor.dim() < 3 or past < 2 or tensor.shape[-2] != past:
            return {0: _AUTO} if tensor.dim() else None
        return {0: _AUTO, tensor.dim() - 2: length}

    return _spec(cache, axes)


def _spec(value: Any, axes: Any) -> Any:
    """The dynamic shapes of a value, as torch.export takes them: for a registered class, a list of
    what its children have."""
    if isinstance(value, torch.Tensor):
        return axes(value)
    if type(value) is dict:
        return {name: _spec(each, axes) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_spec(each, axes) for each in value)
    node = pytree.SUPPORTED_NODES.get(type(value))
    if node is None:
        return None
    return [_spec(child, axes) for child in node.flatten_fn(value)[0]]
