"""Rules of elementwise operators, of types, and of new tensors."""

# Rules take arguments by the names that operators' schemas give them, used or not.
# ruff: noqa: ARG001, PLR0917

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .declining import DeclinedError
from .results import Results, always, default_float, dense_on_cpu, dims_of
from .sizes import (
    Size,
    plain,
    wrapped_axis,
)
from .tensor import QuickTensor


def unary(results: Results, self: torch.Tensor, *_: Any, **__: Any) -> QuickTensor:
    if not self.dtype.is_floating_point:
        raise DeclinedError("an elementwise operator on integers")
    return results.pointwise([self], self.dtype)


def unary_any(results: Results, self: torch.Tensor) -> QuickTensor:
    if self.dtype.is_complex:
        raise DeclinedError("complex numbers")
    return results.pointwise([self], self.dtype)


def binary(results: Results, self: Any, other: Any, **_: Any) -> QuickTensor:
    tensors = [each for each in (self, other) if isinstance(each, torch.Tensor)]
    return results.pointwise(tensors, _promoted(self, other))


def division(results: Results, self: Any, other: Any) -> QuickTensor:
    dtype = _promoted(self, other)
    tensors = [each for each in (self, other) if isinstance(each, torch.Tensor)]
    return results.pointwise(tensors, dtype if dtype.is_floating_point else default_float())


def power(results: Results, self: torch.Tensor, exponent: Any) -> QuickTensor:
    return binary(results, self, exponent)


def comparison(results: Results, self: torch.Tensor, other: Any) -> QuickTensor:
    tensors = [each for each in (self, other) if isinstance(each, torch.Tensor)]
    return results.pointwise(tensors, torch.bool)


def where(results: Results, condition: torch.Tensor, self: Any, other: Any) -> QuickTensor:
    tensors = [each for each in (condition, self, other) if isinstance(each, torch.Tensor)]
    return results.pointwise(tensors, _promoted(self, other))


def masked_fill(
    results: Results, self: torch.Tensor, mask: torch.Tensor, value: Any
) -> QuickTensor:
    return results.pointwise([self, mask], self.dtype)


def _promoted(a: Any, b: Any) -> torch.dtype:
    """As torch.result_type, which would run the tensors."""

    for each in (a, b):
        if not isinstance(each, (torch.Tensor, bool, int, float)):
            raise DeclinedError(f"a {type(each).__name__} in arithmetic")
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.dtype == b.dtype:
            return a.dtype
        if bool(dims_of(a)) == bool(dims_of(b)):
            return torch.promote_types(a.dtype, b.dtype)
        whole, scalar = (a, b) if dims_of(a) else (b, a)
        return _with_scalar(whole.dtype, _category(scalar.dtype), scalar.dtype)
    if not isinstance(a, torch.Tensor):
        a, b = b, a
    kind = {bool: 0, int: 1, float: 2}[type(b)]
    standard = (torch.bool, torch.int64, default_float())[kind]
    return _with_scalar(a.dtype, kind, standard)


def _category(dtype: torch.dtype) -> int:
    if dtype.is_complex:
        raise DeclinedError("complex numbers")
    return 0 if dtype is torch.bool else 2 if dtype.is_floating_point else 1


def _with_scalar(dtype: torch.dtype, kind: int, scalar: torch.dtype) -> torch.dtype:
    return dtype if kind <= _category(dtype) else scalar


def like(results: Results, self: torch.Tensor, *_: Any, **options: Any) -> QuickTensor:
    dense_on_cpu(options.get("layout"), options.get("device"), options.get("pin_memory"))
    if options.get("memory_format") not in (None, torch.preserve_format):
        raise DeclinedError("a tensor in another layout")
    return results.pointwise([self], options.get("dtype") or self.dtype)


def logical(results: Results, self: torch.Tensor, *others: torch.Tensor) -> QuickTensor:
    return results.pointwise([self, *others], torch.bool)


def running(results: Results, self: torch.Tensor, dim: int, *, dtype: Any = None) -> QuickTensor:
    wrapped_axis(dim, len(dims_of(self)))
    standard = self.dtype if self.dtype.is_floating_point else torch.int64
    return results.pointwise([self], dtype or standard)


def to_dtype(
    results: Results,
    self: torch.Tensor,
    dtype: torch.dtype,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> torch.Tensor:
    if copy or memory_format not in (None, torch.preserve_format):
        raise DeclinedError("a copy in another layout")
    return self if dtype is self.dtype else results.pointwise([self], dtype)


def to_layout(
    results: Results,
    self: torch.Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    **others: Any,
) -> torch.Tensor:
    dense_on_cpu(layout, device, pin_memory)
    return to_dtype(results, self, dtype or self.dtype, **others)


def to_device(
    results: Results,
    self: torch.Tensor,
    device: Any,
    dtype: torch.dtype,
    *others: Any,
    **named: Any,
) -> torch.Tensor:
    dense_on_cpu(None, device, None)
    return to_dtype(results, self, dtype, *others, **named)


def type_as(results: Results, self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return to_dtype(results, self, other.dtype)


def arange(results: Results, end: Size, **options: Any) -> QuickTensor:
    return arange_from(results, 0, end, **options)


def arange_from(
    results: Results,
    start: Size,
    end: Size,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> QuickTensor:
    dense_on_cpu(layout, device, pin_memory)
    length = plain(plain(end) - plain(start))
    if not always(length >= 0):
        raise DeclinedError("a range that may be empty")
    return results.dense((length,), dtype or torch.int64)


def filled(results: Results, size: Sequence[Size], *_: Any, **options: Any) -> QuickTensor:
    dtype = options.pop("dtype", None)
    if dtype is None and _:
        if type(_[0]) not in (bool, int, float):
            raise DeclinedError("a symbolic value")
        dtype = {bool: torch.bool, int: torch.int64}.get(type(_[0]))
    dense_on_cpu(options.get("layout"), options.get("device"), options.get("pin_memory"))
    return results.dense(tuple(map(plain, size)), dtype or default_float())


def new_filled(
    results: Results, self: torch.Tensor, size: Sequence[Size], *_: Any, **options: Any
) -> QuickTensor:
    return filled(results, size, **{**options, "dtype": options.get("dtype") or self.dtype})
