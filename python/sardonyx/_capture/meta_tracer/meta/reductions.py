"""Rules of what sums, averages or chooses elements along axes."""

# Rules take arguments by the names that operators' schemas give them, used or not.
# ruff: noqa: A002, ARG001, PLR0917

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.symbolic.sizes import Sizes, wrapped_axis

from .results import ResultFactory, default_float, dims_of
from .tensor import QuickTensor


def averaged(
    results: ResultFactory, self: torch.Tensor, *axes: Any, dtype: Any = None, **named: Any
) -> QuickTensor:
    if not (dtype or self.dtype).is_floating_point:
        raise DeclinedError("a mean of integers")
    return summed(results, self, *axes, dtype=dtype, **named)


def summed(
    results: ResultFactory,
    self: torch.Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> QuickTensor:
    counts = not (self.dtype.is_floating_point or self.dtype.is_complex)
    own = torch.int64 if counts else self.dtype
    return results.dense(_left(self, dim, keepdim), dtype or own)


def _left(tensor: torch.Tensor, dim: Sequence[int] | None, keepdim: bool) -> Sizes:
    """The sizes that are left of a tensor's where some axes are reduced."""
    shape = dims_of(tensor)
    if not dim:
        raise DeclinedError("a reduction of everything")
    axes = {wrapped_axis(axis, len(shape)) for axis in dim}
    if len(axes) != len(dim):
        raise DeclinedError("one axis stands twice")
    return tuple(1 if i in axes else n for i, n in enumerate(shape) if keepdim or i not in axes)


def largest(
    results: ResultFactory,
    self: torch.Tensor,
    k: Any,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
) -> list[QuickTensor]:
    """topk: values and places."""
    shape = dims_of(self)
    axis = wrapped_axis(dim, len(shape))
    if type(k) is not int or type(shape[axis]) is not int or not 0 <= k <= shape[axis]:
        raise DeclinedError("the largest of how many, depends on sizes")
    if self.dtype.is_complex or self.dtype is torch.bool:
        raise DeclinedError("the largest of what has no order")
    dims = (*shape[:axis], k, *shape[axis + 1 :])
    return [results.dense(dims, self.dtype), results.dense(dims, torch.int64)]


def covariance(
    results: ResultFactory, self: torch.Tensor, *, aweights: Any = None, **named: Any
) -> QuickTensor:
    """cov and corrcoef: of the variables, which are rows. That of one variable is a number."""
    shape = dims_of(self)
    own = self.dtype if self.dtype.is_floating_point or self.dtype.is_complex else default_float()
    if aweights is not None:
        own = torch.promote_types(own, aweights.dtype)
    is_number = len(shape) < 2 or (type(shape[0]) is int and shape[0] == 1)
    return results.dense(() if is_number else (shape[0], shape[0]), own)
