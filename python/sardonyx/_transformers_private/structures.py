"""Arguments and results of a model of transformers as their tensors and a description, and back.

As `trees`, except that caches of keys and values are made again by their own methods, so that what
they know of their lengths is true of the new tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch

from sardonyx._torch_private import pytree

from . import trees
from .registration import cache_forms

_Leaves = list[torch.Tensor]


def flatten(value: Any, captured: Any = None) -> tuple[_Leaves, Any]:
    """The tensors of a value, in the order of its description, which is JSON.

    Args:
        value: arguments or results.
        captured: the TreeSpec of the same value in a captured program. What is a symbolic number
            there is a leaf here, too: a `trees.Number`.
    """
    leaves: _Leaves = []
    objects = (context for context, _ in _nodes(captured) if _is_description(context))
    return leaves, _described(value, leaves, cache_forms(), objects)


def symbolic_leaves(captured: Any) -> list[bool]:
    """Of each leaf of a captured value, whether it is a symbolic number of an object."""
    found: list[bool] = []
    for context, leaves in _nodes(captured):
        known = trees.symbolic_leaves(context) if _is_description(context) else {}
        found += [known.get(leaf, False) for leaf in range(leaves)]
    return found


def unflatten(leaves: Iterable[torch.Tensor], description: Any) -> Any:
    """The value with other tensors."""
    return _restored(
        description, list(leaves), {form.path: form for form in cache_forms().values()}
    )


def _nodes(captured: Any) -> Iterator[tuple[Any, int]]:
    """The nodes of a TreeSpec that have leaves or are objects, in order: the context of each, and
    how many leaves it has itself."""
    if captured is None:
        return
    children = pytree.children_of(captured)
    if _is_description(captured.context):
        yield captured.context, len(children)
    elif not children:
        yield None, captured.num_leaves
    else:
        for child in children:
            yield from _nodes(child)


def _is_description(context: Any) -> bool:
    return isinstance(context, dict) and "_t" in context


def _described(
    value: Any, leaves: _Leaves, forms: Mapping[type, Any], objects: Iterator[Any]
) -> Any:
    def inner(each: Any) -> Any:
        return _described(each, leaves, forms, objects)

    form = forms.get(type(value))
    if form is not None:
        children, context = form.flatten(value)
        if not _is_description(context):
            return {"_t": "cache", "p": form.path, "c": [inner(c) for c in children], "x": context}
    if isinstance(value, Mapping) and all(type(name) is str for name in value):
        items = {name: inner(each) for name, each in value.items()}
        return {"_t": "map", "p": trees.path_of(type(value)), "v": items}
    if type(value) in (list, tuple):
        items_ = [inner(each) for each in value]
        return {"_t": "seq", "p": trees.path_of(type(value)), "v": items_}
    known, description = trees.flatten(value)
    if type(value) in pytree.SUPPORTED_NODES:
        known, description = trees.with_numbers(known, description, next(objects, None))
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
