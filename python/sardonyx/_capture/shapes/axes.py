"""Axes of tensors as users count them, from either end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from sardonyx._base.errors import usage_error

T = TypeVar("T")


def axes_from_front(dims: Mapping[int, T], value: Any, label: str) -> dict[int, T]:
    """What is said of axes of `value`, counted from the front; unchanged for what is no tensor.

    UsageError for an axis that the tensor does not have, or that is said twice.
    """
    rank = len(value.shape) if hasattr(value, "shape") else None
    if rank is None:
        return dict(dims)
    counted: dict[int, T] = {}
    for axis, dim in dims.items():
        if not -rank <= axis < rank:
            raise usage_error(
                f"{label} has {rank} dimensions, and no dimension {axis}",
                f"dimensions are counted from 0 to {rank - 1}" if rank else "it is a single number",
            )
        if counted.setdefault(axis % rank, dim) is not dim:
            raise usage_error(f"dimension {axis % rank} of {label} is said twice, in two ways")
    return counted
