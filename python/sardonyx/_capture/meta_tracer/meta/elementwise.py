"""Rules of elementwise operators, of types, and of new tensors."""

# Rules take arguments by the names that operators' schemas give them, used or not.
# ruff: noqa: A002, ARG001, PLR0917

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.symbolic.sizes import Size, broadcast, plain, wrapped_axis

from .results import ResultFactory, always, default_float, dense_on_cpu, dims_of, steps_of
from .tensor import QuickTensor


def unary(results: ResultFactory, self: torch.Tensor, *_: Any, **__: Any) -> QuickTensor:
    if not self.dtype.is_floating_point:
        raise DeclinedError("an elementwise operator on integers")
    return results.pointwise([self], self.dtype)


def unary_any(results: ResultFactory, self: torch.Tensor) -> QuickTensor:
    if self.dtype.is_complex or self.dtype is torch.bool:
        raise DeclinedError("complex numbers, or truth values")
    return results.pointwise([self], self.dtype)


def inverted(results: ResultFactory, self: torch.Tensor) -> QuickTensor:
    _check_bits(self.dtype)
    return results.pointwise([self], self.dtype)


def binary(results: ResultFactory, self: Any, other: Any) -> QuickTensor:
    tensors = [each for each in (self, other) if isinstance(each, torch.Tensor)]
    return results.pointwise(tensors, _promoted(self, other))


def scaled_sum(results: ResultFactory, self: Any, other: Any, alpha: Any = 1) -> QuickTensor:
    """Of these and differences, which truth values have none of."""
    made = binary(results, self, other)
    if made.dtype is torch.bool:
        raise DeclinedError("sums of truth values")
    if type(alpha) is not int and not (type(alpha) is float and made.dtype.is_floating_point):
        raise DeclinedError("a factor of another type")
    return made


def bitwise(results: ResultFactory, self: torch.Tensor, other: Any) -> QuickTensor:
    made = binary(results, self, other)
    _check_bits(made.dtype)
    return made


def _check_bits(dtype: torch.dtype) -> None:
    if dtype.is_floating_point or dtype.is_complex:
        raise DeclinedError("bits of floating numbers")


def division(results: ResultFactory, self: Any, other: Any) -> QuickTensor:
    dtype = _promoted(self, other)
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = default_float()
    tensors = [each for each in (self, other) if isinstance(each, torch.Tensor)]
    return results.pointwise(tensors, dtype)


def rounded_division(results: ResultFactory, self: Any, other: Any) -> QuickTensor:
    """Rounded quotients, and remainders of those, of what lies in row-major order."""
    dtype = _promoted(self, other)
    if dtype is torch.bool or dtype.is_complex:
        raise DeclinedError("rounded quotients of truth values, or of complex numbers")
    tensors = [each for each in (self, other) if isinstance(each, torch.Tensor)]
    if not all(results.strides.is_contiguous(dims_of(t), steps_of(t)) for t in tensors):
        raise DeclinedError("rounded quotients in another layout")
    return results.pointwise(tensors, dtype)


def clamp(
    results: ResultFactory, self: torch.Tensor, min: Any = None, max: Any = None
) -> QuickTensor:
    if not all(bound is None or isinstance(bound, tuple(_KINDS)) for bound in (min, max)):
        raise DeclinedError("bounds of another type")
    kinds = [_KINDS[type(bound)] for bound in (min, max) if bound is not None]
    if not kinds or builtins.max(kinds) > _category(self.dtype) or self.dtype is torch.bool:
        raise DeclinedError("bounds that give elements another type")
    return results.pointwise([self], self.dtype)


def extreme(results: ResultFactory, self: torch.Tensor, other: torch.Tensor) -> QuickTensor:
    """The larger or the smaller ones of each two elements."""
    made = binary(results, self, other)
    if made.dtype.is_complex or not isinstance(other, torch.Tensor):
        raise DeclinedError("the larger of complex numbers")
    return made


def power(results: ResultFactory, self: torch.Tensor, exponent: Any) -> QuickTensor:
    made = binary(results, self, exponent)
    if made.dtype is torch.bool:
        raise DeclinedError("powers of truth values")
    return made


def comparison(results: ResultFactory, self: torch.Tensor, other: Any) -> QuickTensor:
    tensors = [each for each in (self, other) if isinstance(each, torch.Tensor)]
    return results.pointwise(tensors, torch.bool)


def where(results: ResultFactory, condition: torch.Tensor, self: Any, other: Any) -> QuickTensor:
    if condition.dtype is not torch.bool:
        raise DeclinedError("a condition of numbers")
    tensors = [each for each in (condition, self, other) if isinstance(each, torch.Tensor)]
    return results.pointwise(tensors, _promoted(self, other))


def masked_fill(
    results: ResultFactory, self: torch.Tensor, mask: torch.Tensor, value: Any
) -> QuickTensor:
    if mask.dtype is not torch.bool or _promoted(self, value) != self.dtype:
        raise DeclinedError("a mask of numbers, or a value of another type")
    return results.dense(broadcast([dims_of(self), dims_of(mask)]), self.dtype)


# Of numbers, those that are computed of sizes included: the category that their type belongs to.
_KINDS = {bool: 0, int: 1, torch.SymInt: 1, float: 2, torch.SymFloat: 2}


def _promoted(a: Any, b: Any) -> torch.dtype:
    """As torch.result_type, which would run the tensors."""

    for each in (a, b):
        if not isinstance(each, (torch.Tensor, *_KINDS)):
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
    kind = _KINDS[type(b)]
    standard = (torch.bool, torch.int64, default_float())[kind]
    return _with_scalar(a.dtype, kind, standard)


def _category(dtype: torch.dtype) -> int:
    if dtype.is_complex:
        raise DeclinedError("complex numbers")
    return 0 if dtype is torch.bool else 2 if dtype.is_floating_point else 1


def _with_scalar(dtype: torch.dtype, kind: int, scalar: torch.dtype) -> torch.dtype:
    return dtype if kind <= _category(dtype) else scalar


def like(results: ResultFactory, self: torch.Tensor, *_: Any, **options: Any) -> QuickTensor:
    dense_on_cpu(options.get("layout"), options.get("device"), options.get("pin_memory"))
    if options.get("memory_format") not in (None, torch.preserve_format):
        raise DeclinedError("a tensor in another layout")
    return results.pointwise([self], options.get("dtype") or self.dtype)


def logical(results: ResultFactory, self: torch.Tensor, *others: torch.Tensor) -> QuickTensor:
    """PyTorch's meta functions compute these of comparisons, each of which is laid out anew."""
    tensors = (self, *others)
    if not all(results.strides.is_contiguous(dims_of(t), steps_of(t)) for t in tensors):
        raise DeclinedError("a logical operator in another layout")
    return results.pointwise(tensors, torch.bool)


def running(
    results: ResultFactory, self: torch.Tensor, dim: int, *, dtype: Any = None
) -> QuickTensor:
    wrapped_axis(dim, len(dims_of(self)))
    counts = not (self.dtype.is_floating_point or self.dtype.is_complex)
    return results.dense(dims_of(self), dtype or (torch.int64 if counts else self.dtype))


def to_dtype(
    results: ResultFactory,
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
    results: ResultFactory,
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
    results: ResultFactory,
    self: torch.Tensor,
    device: Any,
    dtype: torch.dtype,
    *others: Any,
    **named: Any,
) -> torch.Tensor:
    dense_on_cpu(None, device, None)
    return to_dtype(results, self, dtype, *others, **named)


def type_as(results: ResultFactory, self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return to_dtype(results, self, other.dtype)


def arange(results: ResultFactory, end: Size, **options: Any) -> QuickTensor:
    return arange_from(results, 0, end, **options)


def arange_from(
    results: ResultFactory,
    start: Size,
    end: Size,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> QuickTensor:
    dense_on_cpu(layout, device, pin_memory)
    if not all(isinstance(bound, (int, torch.SymInt)) for bound in (start, end)):
        raise DeclinedError("a range of real numbers")
    length = plain(plain(end) - plain(start))
    if not always(length >= 0):
        raise DeclinedError("a range that may be empty")
    return results.dense((length,), dtype or torch.int64)


def filled(results: ResultFactory, size: Sequence[Size], *_: Any, **options: Any) -> QuickTensor:
    dtype = options.pop("dtype", None)
    if dtype is None and _:
        if type(_[0]) not in _KINDS:
            raise DeclinedError(f"a value that is a {type(_[0]).__name__}")
        dtype = (torch.bool, torch.int64, None)[_KINDS[type(_[0])]]
    dense_on_cpu(options.get("layout"), options.get("device"), options.get("pin_memory"))
    sizes = tuple(map(plain, size))
    if not all(always(each >= 0) for each in sizes):
        raise DeclinedError("a size that may be negative")
    return results.dense(sizes, dtype or default_float())


def new_filled(
    results: ResultFactory, self: torch.Tensor, size: Sequence[Size], *_: Any, **options: Any
) -> QuickTensor:
    return filled(results, size, **{**options, "dtype": options.get("dtype") or self.dtype})
