"""Rules of operators that write into a tensor, which they give back."""

# Rules take arguments by the names that operators' schemas give them, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.symbolic.sizes import (
    always_same,
    is_by_data,
    is_repeated,
    made_same,
    wrapped_axis,
)

from . import elementwise
from .results import ResultFactory, dims_of, numbers, steps_of


def copy(
    results: ResultFactory, self: torch.Tensor, src: torch.Tensor, non_blocking: bool = False
) -> torch.Tensor:
    own, given = dims_of(self), dims_of(src)
    if len(given) > len(own):
        raise DeclinedError("a copy of a tensor of more dims")
    _check_places(self)
    for size, other in zip(reversed(own), reversed(given), strict=False):
        # Where sizes of data differ, one is 1 and broadcasts, or eager PyTorch raises.
        if not (is_repeated(other) or always_same(size, other) or is_by_data((size, other))):
            raise DeclinedError("a copy of a tensor that may not fit")
    return self


def _check_places(tensor: torch.Tensor) -> None:
    if 0 in numbers(steps_of(tensor)):
        raise DeclinedError("writing to what lies in one place")


def binary(results: ResultFactory, self: torch.Tensor, other: Any) -> torch.Tensor:
    return _computed(self, other, elementwise.binary(results, self, other).dtype)


def scaled_sum(
    results: ResultFactory, self: torch.Tensor, other: Any, alpha: Any = 1
) -> torch.Tensor:
    return _computed(self, other, elementwise.scaled_sum(results, self, other, alpha).dtype)


def division(results: ResultFactory, self: torch.Tensor, other: Any) -> torch.Tensor:
    return _computed(self, other, elementwise.division(results, self, other).dtype)


def masked_fill(
    results: ResultFactory, self: torch.Tensor, mask: torch.Tensor, value: Any
) -> torch.Tensor:
    return _computed(self, mask, elementwise.masked_fill(results, self, mask, value).dtype)


def _computed(self: torch.Tensor, other: Any, dtype: torch.dtype) -> torch.Tensor:
    """The tensor, where it takes elements of this type, which are computed of it and another."""
    _check_places(self)
    if not torch.can_cast(dtype, self.dtype):
        raise DeclinedError("elements of another kind, in place")
    own, given = dims_of(self), dims_of(other) if isinstance(other, torch.Tensor) else ()
    if len(given) > len(own):
        raise DeclinedError("a tensor of more dims, in place")
    for size, each in zip(reversed(own), reversed(given), strict=False):
        if not is_repeated(each) and not made_same(size, each):
            raise DeclinedError("a tensor that may not fit, in place")
    return self


def index_copy(
    results: ResultFactory,
    self: torch.Tensor,
    dim: int,
    index: torch.Tensor,
    source: torch.Tensor,
) -> torch.Tensor:
    own, given, places = dims_of(self), dims_of(source), dims_of(index)
    axis = wrapped_axis(dim, len(own))
    _check_places(self)
    if len(given) != len(own) or len(places) != 1 or source.dtype != self.dtype:
        raise DeclinedError("rows of another rank or type")
    if index.dtype != torch.int64:
        raise DeclinedError("rows by what is no integer")
    wanted = (*own[:axis], places[0], *own[axis + 1 :])
    if not all(map(made_same, wanted, given)):
        raise DeclinedError("rows that may not fit")
    return self
