"""Rules of what slides a kernel over images, resizes or normalizes them. Fake kernels ask of each
size whether it is 1, to find a memory format, or a view."""

# Rules take arguments by the names that operators' schemas give them, used or not.
# ruff: noqa: A002, ARG001, PLR0917

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.symbolic.sizes import (
    Size,
    Sizes,
    always_same,
    hint,
    made_same,
    plain,
    same,
)
from sardonyx._torch_private.sizes import is_always_true

from .results import ResultFactory, dims_of, numbers, steps_of
from .tensor import QuickTensor


def convolution(
    results: ResultFactory,
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: Sequence[Any] = (1,),
    padding: Sequence[Any] | str = (0,),
    dilation: Sequence[Any] = (1,),
    groups: int = 1,
    *,
    axes: int,
) -> QuickTensor:
    """Along `axes` axes, of a batch [N, C, ...] by a weight [O, C / groups, ...], both in row-major
    order. Images with their channels last give such."""
    shape, kernel = dims_of(input), dims_of(weight)
    if not len(shape) == len(kernel) == axes + 2 or len(numbers(kernel)) != len(kernel):
        raise DeclinedError("a convolution of what does not fit")
    if isinstance(padding, str) or input.dtype != weight.dtype or not input.is_floating_point():
        raise DeclinedError("a convolution of another kind")
    if kernel[0] % groups or not made_same(shape[1], kernel[1] * groups):
        raise DeclinedError("a convolution of other channels")
    if bias is not None and (dims_of(bias) != kernel[:1] or bias.dtype != input.dtype):
        raise DeclinedError("a convolution with another bias")
    is_last = _has_channels_last(results, shape, steps_of(input))
    is_usual = is_last or _is_row_major(results, shape, steps_of(input))
    if not is_usual or not _is_row_major(results, kernel, steps_of(weight)):
        raise DeclinedError("a convolution in another memory format")
    lengths = _lengths(shape[2:], kernel[2:], stride, padding, dilation)
    return _images(results, (shape[0], kernel[0], *lengths), input.dtype, is_last=is_last)


def resized(
    results: ResultFactory,
    input: torch.Tensor,
    output_size: Sequence[Any] | None,
    *options: Any,
    axes: int,
) -> QuickTensor:
    """[N, C, ...] with other sizes along `axes` axes: torch.nn.functional.interpolate. The last
    option is the factors, where no sizes are given. Fake kernels compute the elements by dozens of
    operators, and every one asks whether sizes are equal."""
    shape, factors = dims_of(input), options[-1] if options else None
    if len(shape) != axes + 2 or not input.is_floating_point():
        raise DeclinedError("a resize of what is no batch of images")
    given = [each for each in (output_size, factors) if each is not None]
    if len(given) != 1 or len(given[0]) != axes:
        raise DeclinedError("a resize to sizes and by factors, or of other axes")
    if output_size is not None:
        lengths = tuple(map(plain, output_size))
    else:
        lengths = tuple(map(_scaled, shape[2:], given[0]))
    if any(hint(each) < 1 for each in (*shape, *lengths)):
        raise DeclinedError("a resize to no elements")
    steps = steps_of(input)
    is_last = _has_channels_last(results, shape, steps)
    if not is_last and not _is_row_major(results, shape, steps):
        is_last = _is_like_channels_last(shape, steps)
    return _images(results, (*shape[:2], *lengths), input.dtype, is_last=is_last)


def batch_norm(
    results: ResultFactory,
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    training: bool,
    *_: Any,
) -> QuickTensor:
    """Of [N, C, ...], by the statistics that the layer has."""
    shape = dims_of(input)
    if training or running_mean is None or running_var is None:
        raise DeclinedError("a normalization by the batch")
    if not 2 <= len(shape) <= 5 or type(shape[1]) is not int or shape[1] < 1:
        raise DeclinedError("a normalization of what does not fit")
    for factor in (weight, bias, running_mean, running_var):
        if factor is not None and (dims_of(factor) != (shape[1],) or factor.dtype != input.dtype):
            raise DeclinedError("a normalization with other factors")
    if not input.is_floating_point():
        raise DeclinedError("a normalization of integers")
    is_last = _has_channels_last(results, shape, steps_of(input))
    if not is_last and not _is_row_major(results, shape, steps_of(input)):
        raise DeclinedError("a normalization in another memory format")
    return _images(results, shape, input.dtype, is_last=is_last)


def _scaled(size: Size, factor: float) -> Size:
    """As PyTorch rounds it."""
    if factor == int(factor):
        return plain(size * int(factor))
    return plain(torch.sym_int(size * factor))


def _images(
    results: ResultFactory, dims: Sizes, dtype: torch.dtype, *, is_last: bool
) -> QuickTensor:
    """[N, C, ...] in row-major order, or with the channels last in memory."""
    if not is_last:
        return results.dense(dims, dtype)
    batch, *inner, channels = results.strides.contiguous((dims[0], *dims[2:], dims[1]))
    return QuickTensor.of(dims, (batch, channels, *inner), dtype)


def max_pool(
    results: ResultFactory,
    self: torch.Tensor,
    kernel_size: Sequence[Any],
    stride: Sequence[Any] = (),
    padding: Sequence[Any] = (0,),
    dilation: Sequence[Any] = (1,),
    ceil_mode: bool = False,
    *,
    axes: int,
) -> QuickTensor:
    """The maxima of windows over [N, C, ...]."""
    return _pooled(
        results, self, kernel_size, stride, padding, dilation, axes=axes, rounds_up=ceil_mode
    )


def avg_pool(
    results: ResultFactory,
    self: torch.Tensor,
    kernel_size: Sequence[Any],
    stride: Sequence[Any] = (),
    padding: Sequence[Any] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    axes: int,
) -> QuickTensor:
    """The means of windows over [N, C, ...]."""
    if divisor_override == 0:
        raise DeclinedError("a mean by no elements")
    if axes == 3:  # whose kernel is to fit without the padding
        for size, taps in zip(dims_of(self)[2:], _each(kernel_size, axes), strict=False):
            if hint(size) < taps:
                raise DeclinedError("a pooling of fewer elements than its kernel has")
            torch._check(size >= taps)
    return _pooled(
        results, self, kernel_size, stride, padding, (1,), axes=axes, rounds_up=ceil_mode
    )


def _pooled(
    results: ResultFactory,
    images: torch.Tensor,
    kernel_size: Sequence[Any],
    stride: Sequence[Any],
    padding: Sequence[Any],
    dilation: Sequence[Any],
    *,
    axes: int,
    rounds_up: bool,
) -> QuickTensor:
    shape = dims_of(images)
    if len(shape) != axes + 2 or not images.is_floating_point():
        raise DeclinedError("a pooling of what is no batch of images")
    options = [_each(each, axes) for each in (kernel_size, stride or kernel_size, padding)]
    options.append(_each(dilation, axes))
    if any(type(number) is not int for each in options for number in each):
        raise DeclinedError("a pooling by sizes")
    if any(hint(size) < 1 for size in shape):
        raise DeclinedError("a pooling of no elements")
    is_last = _has_channels_last(results, shape, steps_of(images))
    if not is_last and not _is_row_major(results, shape, steps_of(images)):
        raise DeclinedError("a pooling in another memory format")
    length = _windows if rounds_up else _length
    lengths = []
    for size, taps, step, pad, gap in zip(shape[2:], *options, strict=True):
        if 2 * pad > gap * (taps - 1) + 1:
            raise DeclinedError("a pooling of more padding than half its kernel")
        lengths.append(length(size, taps, step, pad, gap))
    return _images(results, (*shape[:2], *lengths), images.dtype, is_last=is_last)


def im2col(
    results: ResultFactory,
    self: torch.Tensor,
    kernel_size: Sequence[Any],
    dilation: Sequence[Any],
    padding: Sequence[Any],
    stride: Sequence[Any],
) -> QuickTensor:
    """[N, C, H, W] -> [N, C kernel, blocks]: torch.nn.functional.unfold."""
    shape = dims_of(self)
    if len(shape) != 4 or not self.is_floating_point():
        raise DeclinedError("blocks of what is no batch of images")
    blocks = _blocks(shape[2:], kernel_size, stride, padding, dilation)
    elements = plain(shape[1] * kernel_size[0] * kernel_size[1])
    return results.dense((shape[0], elements, blocks), self.dtype)


def col2im(
    results: ResultFactory,
    self: torch.Tensor,
    output_size: Sequence[Size],
    kernel_size: Sequence[Any],
    dilation: Sequence[Any],
    padding: Sequence[Any],
    stride: Sequence[Any],
) -> QuickTensor:
    """[N, C kernel, blocks] -> [N, C, *output_size]: torch.nn.functional.fold."""
    shape = dims_of(self)
    if len(shape) != 3 or not self.is_floating_point() or len(output_size) != 2:
        raise DeclinedError("blocks of what is no batch of images")
    sides = tuple(map(plain, output_size))
    blocks = _blocks(sides, kernel_size, stride, padding, dilation)
    taps = kernel_size[0] * kernel_size[1]
    if type(shape[1]) is not int or shape[1] % taps:
        raise DeclinedError("blocks of another kernel")
    if not always_same(shape[2], blocks):
        raise DeclinedError("a number of blocks that may be another")
    return results.dense((shape[0], shape[1] // taps, *sides), self.dtype)


def _blocks(sides: Sizes, *options: Sequence[Any]) -> Size:
    """How often the kernel fits in an image; PyTorch takes no number for both sides."""
    if any(len(each) != 2 for each in options):
        raise DeclinedError("blocks of other axes")
    height, width = _lengths(sides, *options)
    return plain(height * width)


def _lengths(
    sizes: Sizes,
    taps: Sequence[Any],
    stride: Sequence[Any],
    padding: Sequence[Any],
    dilation: Sequence[Any],
) -> list[Size]:
    """How often the kernel fits along each axis."""
    axes = len(sizes)
    steps, pads, gaps = (_each(given, axes) for given in (stride, padding, dilation))
    return [_length(*each) for each in zip(sizes, taps, steps, pads, gaps, strict=True)]


def _is_row_major(results: ResultFactory, shape: Sizes, steps: Sizes) -> bool:
    """Also where sizes of 1 could lie anywhere, by which PyTorch finds a memory format."""
    if 1 in numbers(shape):
        return all(map(same, steps, results.strides.contiguous(shape)))
    return results.strides.is_contiguous(shape, steps)


def _has_channels_last(results: ResultFactory, shape: Sizes, steps: Sizes) -> bool:
    """Of images without a size of 1, by which they could be in either memory format."""
    if len(shape) != 4 or 1 in numbers(shape):
        return False
    lie = [(each[0], *each[2:], each[1]) for each in (shape, steps)]
    return results.strides.is_contiguous(*lie)


def _is_like_channels_last(shape: Sizes, steps: Sizes) -> bool:
    """Whether Tensor.suggest_memory_format() is that of images with their channels last: of any
    strides. Declines where that depends on sizes."""
    rank = len(shape)
    if rank not in (4, 5) or same(steps[1], 0):
        return False
    least: Size = 0
    for axis in (1, *reversed(range(2, rank)), 0):
        if _is_always(steps[axis] < least, steps[axis] >= least):
            return False
        if axis == 0 and _is_always(least == steps[1], least != steps[1]):
            return False
        least = plain(steps[axis] * shape[axis])
    return True


def _is_always(relation: Any, opposite: Any) -> bool:
    """Whether the relation of sizes holds, whatever they are."""
    if is_always_true(relation):
        return True
    if is_always_true(opposite):
        return False
    raise DeclinedError("a memory format that depends on sizes")


def _each(given: Sequence[Any], axes: int) -> list[Any]:
    if len(given) not in (1, axes):
        raise DeclinedError("a convolution of other axes")
    return list(given) * axes if len(given) == 1 else list(given)


def _length(size: Size, taps: int, step: int, pad: int, gap: int) -> Size:
    if min(taps, step, gap) < 1 or pad < 0:
        raise DeclinedError("a convolution without taps or steps")
    length = plain((size + 2 * pad - gap * (taps - 1) - 1) // step + 1)
    if hint(length) < 1:
        raise DeclinedError("a convolution of fewer elements than its kernel has")
    torch._check(length > 0)
    return length


def _windows(size: Size, taps: int, step: int, pad: int, gap: int) -> Size:
    """How many windows a pooling with ceil_mode has: PyTorch leaves out a last one that begins in
    the padding behind the elements. Windows begin at each `step` below `size + pad`."""
    if min(taps, step, gap) < 1 or pad < 0:
        raise DeclinedError("a pooling without taps or steps")
    beyond = min(pad + step - gap * (taps - 1) - 1, 0)  # of the last window's beginning
    length = plain((size + pad + beyond + step - 1) // step)
    if hint(length) < 1:
        raise DeclinedError("a pooling of fewer elements than its kernel has")
    torch._check(length > 0)
    return length
