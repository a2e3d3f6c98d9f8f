"""Numbers of Python among a module's inputs, which the older exporter makes inputs of the model."""

from __future__ import annotations

from typing import Any

_NUMBERS = (bool, int, float)


def has_numbers(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a leaf is a bool, an int or a float."""
    from sardonyx._torch_private import pytree

    return any(type(leaf) in _NUMBERS for leaf in pytree.tree_leaves((args, kwargs)))


def numbers_as_tensors(inputs: Any) -> Any:
    """The same with 0-d tensors in their places."""
    import torch

    from sardonyx._torch_private import pytree

    dtypes = {bool: torch.bool, int: torch.int64, float: torch.float64}

    def tensor(leaf: Any) -> Any:
        dtype = dtypes.get(type(leaf))
        return leaf if dtype is None else torch.tensor(leaf, dtype=dtype)

    return pytree.tree_map(tensor, inputs)
