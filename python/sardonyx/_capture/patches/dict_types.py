"""Classes of users that are dictionaries, as inputs and results of modules: PyTorch's pytrees take
dict and OrderedDict apart, and not what is derived from them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any


def register_dict_types(values: Any) -> bool:
    """Registers the classes of the dictionaries in `values`. Whether one was not known."""
    from sardonyx._torch_private import pytree

    found = False
    for leaf in pytree.tree_leaves(values):
        if isinstance(leaf, dict) and type(leaf) not in pytree.SUPPORTED_NODES:
            _register(type(leaf))
            register_dict_types(list(leaf.values()))
            found = True
    return found


def _register(kind: type[dict[Any, Any]]) -> None:
    from sardonyx._torch_private import pytree

    base: Any = OrderedDict if issubclass(kind, OrderedDict) else dict

    def flatten(held: Mapping[Any, Any]) -> tuple[list[Any], list[Any]]:
        return list(held.values()), list(held)

    def flatten_with_keys(held: Mapping[Any, Any]) -> tuple[list[Any], list[Any]]:
        return [(pytree.MappingKey(key), value) for key, value in held.items()], list(held)

    def unflatten(values: Any, keys: list[Any]) -> Any:
        made = kind.__new__(kind)  # its __init__ may ask for more
        for key, value in zip(keys, values, strict=True):
            base.__setitem__(made, key, value)
        return made

    pytree.register_pytree_node(
        kind,
        flatten,
        unflatten,
        serialized_type_name=f"{kind.__module__}.{kind.__qualname__}",
        flatten_with_keys_fn=flatten_with_keys,
    )
