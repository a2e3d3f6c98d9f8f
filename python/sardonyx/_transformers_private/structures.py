"""Arguments and results of a model of transformers as their tensors and a description, and back.

As `trees`, except that caches of keys and values are made again by their own methods, so that what
they know of their lengths is true of the new tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from . import trees
from .registration import cache_forms

_Leaves = list[torch.Tensor]


def flatten(value: Any) -> tuple[_Leaves, Any]:
    """The tensors of a value, in the order of its description, which is JSON."""
    leaves: _Leaves = []
    return leaves, _described(value, leaves, cache_forms())


def unflatten(leaves: Iterable[torch.Tensor], description: Any) -> Any:
    """The value with other tensors."""
    return _restored(
        description, list(leaves), {form.path: form for form in cache_forms().values()}
    )


def _described(value: Any, leaves: _Leaves, forms: Mapping[type, Any]) -> Any:
    def inner(each: Any) -> Any:
        return _described(each, leaves, forms)

    form = forms.get(type(value))
    if form is not None:
        children, context = form.flatten(value)
        if not (isinstance(context, dict) and "_t" in context):
            return {"_t": "cache", "p": form.path, "c": [inner(c) for c in children], "x": context}
    if isinstance(value, Mapping) and all(type(name) is str for name in value):
        items = {name: inner(each) for name, each in value.items()}
        return {"_t": "map", "p": trees.path_of(type(value)), "v": items}
    if type(value) in (list, tuple):
        items_ = [inner(each) for each in value]
        return {"_t": "seq", "p": trees.path_of(type(value)), "v": items_}
    known, description = trees.flatten(value)
    start = len(leaves)
    leaves.extend(known)
    return {"_t": "tree", "start": start, "count": len(known), "v": description}


def _restored(description: Any, leaves: _Leaves, forms: Mapping[str, Any]) -> Any:
    def inner(each: Any) -> Any:
        return _restored(each, leaves, forms)

    kind = description["_t"]
    if kind == "cache":
        made: Callable[..., Any] = forms[description["p"]].unflatten
        return made([inner(each) for each in description["c"]], description["x"])
    if kind == "map":
        items = {name: inner(each) for name, each in description["v"].items()}
        return trees.class_at(description["p"])(items)
    if kind == "seq":
        return trees.class_at(description["p"])(inner(each) for each in description["v"])
    start = description["start"]
    return trees.unflatten(leaves[start : start + description["count"]], description["v"])
