"""Example inputs for fake-tensor tracing, which needs their shapes alone.

PyTorch takes a size of 0 or 1 for a number. Where such a size is to be dynamic, the model runs on
inputs that have a larger one there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from sardonyx._capture.shapes.dim_spec import SCALAR, TAKEN_FOR, Leaf
from sardonyx._torch_private import pytree

_FIRST = 3


def generic_inputs(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], leaves: Sequence[Leaf]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs, with one larger size in place of each 0 and 1 that is to be dynamic."""
    values, spec = pytree.tree_flatten((args, dict(kwargs)))
    few = [list(_few_of(*each)) for each in zip(values, leaves, strict=False)]
    if not any(few):
        return args, dict(kwargs)
    taken = {size for each in values if _is_tensor(each) for size in each.shape}
    larger = {size: _unlike(taken, _FIRST + size) for size in range(TAKEN_FOR)}
    for at, axes in enumerate(few):
        if axes:
            shape = list(values[at].shape)
            for axis in axes:
                shape[axis] = larger[shape[axis]]
            values[at] = values[at].new_empty(shape)
    made: tuple[tuple[Any, ...], dict[str, Any]] = pytree.tree_unflatten(values, spec)
    return made


def _few_of(value: Any, leaf: Leaf) -> list[int]:
    """The axes that are to be dynamic, have a size of 0 or 1, and may have a larger one."""
    if not _is_tensor(value) or not value.is_contiguous():
        return []
    return [
        axis
        for axis, wanted in leaf.dims.items()
        if axis != SCALAR
        and -value.dim() <= axis < value.dim()
        and value.shape[axis] < TAKEN_FOR
        and (wanted.most is None or wanted.most > _FIRST + TAKEN_FOR)
    ]


def _is_tensor(value: Any) -> bool:
    return type(value) is torch.Tensor


def _unlike(taken: set[int], least: int) -> int:
    size = least
    while size in taken:
        size += TAKEN_FOR
    return size
