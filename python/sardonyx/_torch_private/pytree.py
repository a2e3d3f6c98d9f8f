"""Trees of arguments: torch.utils._pytree, which torch.export's specs are made of.

Importing this module imports no torch; asking it for a name does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = [
    "SUPPORTED_NODES",
    "MappingKey",
    "SequenceKey",
    "TreeSpec",
    "arg_tree_leaves",
    "children_of",
    "keystr",
    "name_children",
    "register_pytree_node",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

if TYPE_CHECKING:
    from torch.utils._pytree import (
        SUPPORTED_NODES,
        MappingKey,
        SequenceKey,
        TreeSpec,
        arg_tree_leaves,
        keystr,
        register_pytree_node,
        tree_flatten,
        tree_flatten_with_path,
        tree_leaves,
        tree_map,
        tree_map_only,
        tree_structure,
        tree_unflatten,
    )
else:

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(importlib.import_module("torch.utils._pytree"), name)
        globals()[name] = found
        return found


def children_of(spec: TreeSpec) -> list[TreeSpec]:
    """The children of a spec, which became a method."""
    children = getattr(spec, "children", None)
    return list(children() if children is not None else spec.children_specs)


def name_children(kind: type) -> None:
    """Names the children of a class of dictionaries by their keys, which torch.export needs, where
    the class is registered without names."""
    pytree: Any = importlib.import_module("torch.utils._pytree")
    known = pytree.SUPPORTED_NODES.get(kind)
    if known is None or known.flatten_with_keys_fn is not None:
        return

    def with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Any]:
        children, keys = known.flatten_fn(value)
        return [(pytree.MappingKey(k), each) for k, each in zip(keys, children, strict=True)], keys

    pytree.SUPPORTED_NODES[kind] = known._replace(flatten_with_keys_fn=with_keys)
