"""Rules of operators that move elements."""

# Rules take arguments by the names that operators' schemas give them, used or not.
# ruff: noqa: ARG001, PLR0917

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.symbolic.sizes import (
    Size,
    filled_in,
    hint,
    is_at_most_1,
    is_by_data,
    is_repeated,
    made_same,
    plain,
    same,
    strides_of_view,
    wrapped_axis,
)

from .results import ResultFactory, always, dims_of, numbers, steps_of
from .tensor import QuickTensor


def transpose(results: ResultFactory, self: torch.Tensor, dim0: int, dim1: int) -> QuickTensor:
    order = list(range(len(dims_of(self))))
    first, second = wrapped_axis(dim0, len(order)), wrapped_axis(dim1, len(order))
    order[first], order[second] = order[second], order[first]
    return permute(results, self, order)


def permute(results: ResultFactory, self: torch.Tensor, dims: Sequence[int]) -> QuickTensor:
    shape, steps = dims_of(self), steps_of(self)
    order = [wrapped_axis(axis, len(shape)) for axis in dims]
    if sorted(order) != list(range(len(shape))):
        raise DeclinedError("axes that are no permutation")
    return QuickTensor.of(
        tuple(shape[a] for a in order), tuple(steps[a] for a in order), self.dtype
    )


def t(results: ResultFactory, self: torch.Tensor) -> QuickTensor:
    if len(dims_of(self)) != 2:
        raise DeclinedError("t() of what is no matrix")
    return permute(results, self, (1, 0))


def unsqueeze(results: ResultFactory, self: torch.Tensor, dim: int) -> QuickTensor:
    shape, steps = dims_of(self), steps_of(self)
    axis = wrapped_axis(dim, len(shape) + 1)
    step = plain(shape[axis] * steps[axis]) if axis < len(shape) else 1
    return QuickTensor.of(
        (*shape[:axis], 1, *shape[axis:]), (*steps[:axis], step, *steps[axis:]), self.dtype
    )


def expand(
    results: ResultFactory, self: torch.Tensor, size: Sequence[Size], *, implicit: bool = False
) -> QuickTensor:
    shape, steps = dims_of(self), steps_of(self)
    new = len(size) - len(shape)
    if new < 0:
        raise DeclinedError("an expansion to fewer dims")
    dims: list[Size] = []
    strides: list[Size] = []
    # From the back, since the stride of a new dim of 1 comes from the dim behind it.
    for axis in reversed(range(len(size))):
        behind = plain(dims[0] * strides[0]) if dims else 1
        have, step = (shape[axis - new], steps[axis - new]) if axis >= new else (1, behind)
        want = plain(size[axis])
        if (axis >= new and type(want) is int and want == -1) or same(have, want):
            want = have
        elif is_repeated(have):
            step = 0
        elif made_same(have, want):
            want = have
        else:
            raise DeclinedError(f"an expansion from {have} to {want}")
        dims.insert(0, want)
        strides.insert(0, step)
    if any(type(each) is int and each < 0 for each in dims):
        raise DeclinedError("an expansion of no axis to -1")
    return QuickTensor.of(tuple(dims), tuple(strides), self.dtype)


def view(results: ResultFactory, self: torch.Tensor, size: Sequence[Size]) -> QuickTensor:
    made = _viewed(results, self, size)
    if made is None:
        raise DeclinedError("a view that the layout does not allow")
    return made


def reshape(results: ResultFactory, self: torch.Tensor, shape: Sequence[Size]) -> QuickTensor:
    made = _viewed(results, self, shape)
    if made is not None:
        return made
    wanted = filled_in(shape, dims_of(self))
    example = [tuple(map(hint, each)) for each in (dims_of(self), steps_of(self), wanted)]
    if strides_of_view(*example) is not None:
        results.copies_of_views += 1
    return results.dense(wanted, self.dtype)


def with_asked_sizes(
    results: ResultFactory, self: torch.Tensor, made: QuickTensor, asked: Sequence[Size]
) -> QuickTensor:
    """The view `made` of `self` with the sizes that it was asked for. PyTorch has them as quotients
    of all elements, which divide by 0 where there are none."""
    layout = (dims_of(self), steps_of(self))
    if len(asked) != len(made.dims) or not results.strides.is_contiguous(*layout):
        return made
    dims = tuple(
        known if type(size) is int and size < 0 else plain(size)
        for size, known in zip(asked, made.dims, strict=True)
    )
    return results.dense(dims, made.dtype)


def _viewed(results: ResultFactory, self: torch.Tensor, size: Sequence[Size]) -> QuickTensor | None:
    shape, steps = dims_of(self), steps_of(self)
    wanted = filled_in(size, shape)
    if results.strides.is_contiguous(shape, steps):
        return results.dense(wanted, self.dtype)
    strides = strides_of_view(shape, steps, wanted)
    return None if strides is None else QuickTensor.of(wanted, strides, self.dtype)


def contiguous(
    results: ResultFactory, self: torch.Tensor, *, memory_format: Any = torch.contiguous_format
) -> torch.Tensor:
    if memory_format is not torch.contiguous_format:
        raise DeclinedError(f"the layout {memory_format}")
    if results.strides.is_contiguous(dims_of(self), steps_of(self)):
        return self
    layout = (dims_of(self), steps_of(self))
    # Data-dependent sizes have no example: they may have any value.
    if any(map(is_by_data, layout)) or results.strides.is_contiguous(
        *(tuple(map(hint, each)) for each in layout)
    ):
        results.copies_of_views += 1
    return results.dense(dims_of(self), self.dtype)


def slice_(
    results: ResultFactory,
    self: torch.Tensor,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: Size = 1,
) -> QuickTensor:
    shape, steps = dims_of(self), steps_of(self)
    axis = wrapped_axis(dim, len(shape))
    size = shape[axis]
    is_positive = step >= 1 if type(step) is int else results.holds and results.holds(step >= 1)
    if not is_positive:
        raise DeclinedError("a slice with a symbolic step")
    if results.holds is not None:
        first, last = exact_bounds(start, end, size, results.holds)
    else:
        first, last = _bound(start, size, 0), _bound(end, size, size)
    length = plain(last - first)
    if results.holds is not None:
        length = plain(length)
    elif type(length) is int:
        length = max(length, 0)
    elif not always(length >= 0):
        raise DeclinedError("a slice that may be empty")
    if type(step) is not int or step != 1:
        length = plain((length + step - 1) // step)
    return QuickTensor.of(
        (*shape[:axis], length, *shape[axis + 1 :]),
        (*steps[:axis], plain(steps[axis] * step), *steps[axis + 1 :]),
        self.dtype,
    )


# Whether a relation holds for all sizes that the program takes.
Holds = Callable[[Any], bool]


def exact_bounds(
    start: Size | None, end: Size | None, size: Size, holds: Holds
) -> tuple[Size, Size]:
    """Where a slice begins and ends for all sizes, as PyTorch clamps it."""
    first = 0 if start is None else _clamped(start, 0, size, holds)
    last = size if end is None or _is_endless(end) else _clamped(end, first, size, holds)
    return first, last


def _clamped(given: Size, least: Size, size: Size, holds: Holds) -> Size:
    """An index within `least` and `size`; below 0 it counts from the end."""
    given = plain(given)
    if holds(given < 0):
        given = plain(given + size)
    elif not holds(given >= 0):
        is_negative = torch.sym_min(torch.sym_max(-given, 0), 1)
        given = plain(given + is_negative * size)
    if not holds(given >= least):
        given = least if holds(given <= least) else torch.sym_max(given, least)
    if not holds(given <= size):
        given = size if holds(given >= size) else torch.sym_min(given, size)
    return plain(given)


def _is_endless(end: Size) -> bool:
    return type(end) is int and end == 0x7FFFFFFFFFFFFFFF


def _bound(given: Size | None, size: Size, otherwise: Size) -> Size:
    """Where a slice begins or ends, between 0 and `size`."""
    if given is None:
        return otherwise
    given = plain(given)
    if _is_endless(given):
        return size
    counts_from_the_end = always(given < 0)
    if counts_from_the_end:
        given = plain(given + size)
    if always(given >= 0) and always(given <= size):
        return given
    if always(given >= size):
        return size
    if counts_from_the_end and always(given <= 0):
        return 0
    # PyTorch assumes the same of the example's size, as a bound of what the program takes.
    if type(size) is int and always(given >= 0) and given <= size:
        return given
    raise DeclinedError("a slice whose ends depend on sizes")


def select(results: ResultFactory, self: torch.Tensor, dim: int, index: Size) -> QuickTensor:
    shape, steps = dims_of(self), steps_of(self)
    axis = wrapped_axis(dim, len(shape))
    if not shape or not _is_within(index, shape[axis]):
        raise DeclinedError("an index that may be out of bounds")
    return QuickTensor.of(
        (*shape[:axis], *shape[axis + 1 :]), (*steps[:axis], *steps[axis + 1 :]), self.dtype
    )


def _is_within(index: Size, size: Size) -> bool:
    """Whether PyTorch has such an element, which it checks of free sizes."""
    if always(index < size) and always(index >= -size):
        return True
    if type(index) is int and index in (0, -1) and is_at_most_1(size):
        return True
    if type(index) is not int or is_by_data((size,)) or not -hint(size) <= index < hint(size):
        return False
    torch._check(size > index if index >= 0 else size >= -index)
    return True


def as_strided(
    results: ResultFactory,
    self: torch.Tensor,
    size: Sequence[Size],
    stride: Sequence[Size],
    storage_offset: Size | None = None,
) -> QuickTensor:
    """Where it begins is functionalization's business, which sees what it is a view of."""
    dims, steps = tuple(map(plain, size)), tuple(map(plain, stride))
    if len(dims) != len(steps) or any(type(n) is int and n < 0 for n in (*dims, *steps)):
        raise DeclinedError("as_strided of sizes that cannot be")
    return QuickTensor.of(dims, steps, self.dtype)


def cat(results: ResultFactory, tensors: Sequence[torch.Tensor], dim: int = 0) -> QuickTensor:
    if len({tensor.dtype for tensor in tensors}) != 1:
        raise DeclinedError("tensors of several types in cat")
    # A tensor of shape [0] goes with any other, as caches begin; what may be one is not asked.
    tensors = [each for each in tensors if not (each.dim() == 1 and 0 in numbers(dims_of(each)))]
    if not tensors:
        raise DeclinedError("empty tensors in cat")
    shapes = [dims_of(tensor) for tensor in tensors]
    axis = wrapped_axis(dim, len(shapes[0]))
    if any(len(shape) != len(shapes[0]) or 0 in numbers(shape) for shape in shapes):
        raise DeclinedError("empty tensors in cat")
    for tensor in tensors:
        if not results.strides.is_contiguous(dims_of(tensor), steps_of(tensor)):
            _rows_or_declined(results, tensors)
    for other in shapes[1:]:
        for i, (a, b) in enumerate(zip(shapes[0], other, strict=True)):
            if i != axis and not made_same(a, b):
                raise DeclinedError(f"sizes {a} and {b} meet in cat")
    total = plain(sum(shape[axis] for shape in shapes))
    dims = (*shapes[0][:axis], total, *shapes[0][axis + 1 :])
    return results.dense(dims, tensors[0].dtype)


def stack(results: ResultFactory, tensors: Sequence[torch.Tensor], dim: int = 0) -> QuickTensor:
    if not tensors:
        raise DeclinedError("nothing to stack")
    first, *others = map(dims_of, tensors)
    if len({tensor.dtype for tensor in tensors}) != 1:
        raise DeclinedError("tensors of several types in stack")
    for other in others:
        if len(other) != len(first) or not all(map(made_same, first, other)):
            raise DeclinedError(f"sizes {first} and {other} meet in stack")
    axis = wrapped_axis(dim, len(first) + 1)
    has_formats = len(first) in (3, 4)  # of images, once they are stacked
    if 0 in numbers(first) or not all(
        results.strides.is_contiguous(dims_of(each), steps_of(each))
        for each in tensors
        if has_formats
    ):
        raise DeclinedError("empty tensors, or another layout, in stack")
    return results.dense((*first[:axis], len(tensors), *first[axis:]), tensors[0].dtype)


def _rows_or_declined(results: ResultFactory, tensors: Sequence[torch.Tensor]) -> None:
    """cat keeps the layout of channels last where all of its tensors have it."""
    if len(dims_of(tensors[0])) in (4, 5) and all(
        _may_be_channels_last(tensor) for tensor in tensors
    ):
        raise DeclinedError("cat of tensors in another layout")


def _may_be_channels_last(tensor: torch.Tensor) -> bool:
    step = steps_of(tensor)[1]
    return type(step) is int and step == 1


def split(
    results: ResultFactory, self: torch.Tensor, split_size: Size, dim: int = 0
) -> list[QuickTensor]:
    shape = dims_of(self)
    axis = wrapped_axis(dim, len(shape))
    if type(shape[axis]) is not int or type(split_size) is not int or split_size < 1:
        raise DeclinedError("a split of symbolic sizes")
    starts = range(0, max(shape[axis], 1), split_size)
    return [slice_(results, self, axis, s, min(s + split_size, shape[axis])) for s in starts]


def _parts(tensor: torch.Tensor, axis: int, lengths: Sequence[Size]) -> list[QuickTensor]:
    """Parts of these lengths along an axis, which lie in memory as the tensor does."""
    shape = dims_of(tensor)
    return [
        QuickTensor.of((*shape[:axis], each, *shape[axis + 1 :]), steps_of(tensor), tensor.dtype)
        for each in lengths
    ]


def split_with_sizes(
    results: ResultFactory, self: torch.Tensor, split_sizes: Sequence[Size], dim: int = 0
) -> list[QuickTensor]:
    shape = dims_of(self)
    axis = wrapped_axis(dim, len(shape))
    sizes = [plain(each) for each in split_sizes]
    if len(numbers(sizes)) != len(sizes) or any(each < 0 for each in sizes):
        raise DeclinedError("parts of symbolic sizes")
    if not made_same(shape[axis], sum(sizes)):
        raise DeclinedError("parts that are not the whole")
    return _parts(self, axis, sizes)


def chunk(
    results: ResultFactory, self: torch.Tensor, chunks: int, dim: int = 0
) -> list[QuickTensor]:
    size = dims_of(self)[wrapped_axis(dim, len(dims_of(self)))]
    if type(size) is int and 1 <= chunks <= size:
        return split(results, self, -(-size // chunks), dim)
    # So many elements fill as many parts as are asked for. Of fewer, the model has the first part.
    is_symbolic = type(size) is not int and not is_by_data((size,))
    if chunks < 1 or not is_symbolic or not always(size > (chunks - 1) ** 2):
        raise DeclinedError("chunks of a symbolic size")
    length = plain((size + chunks - 1) // chunks)
    lengths = [length] * (chunks - 1) + [plain(size - length * (chunks - 1))]
    return _parts(self, wrapped_axis(dim, self.dim()), lengths)


def tensor_split(
    results: ResultFactory, self: torch.Tensor, sections: int, dim: int = 0
) -> list[QuickTensor]:
    """The first parts have one more than the others, where there are too few or many elements for
    equal ones; PyTorch asks how many these are."""
    shape, axis = dims_of(self), wrapped_axis(dim, self.dim())
    if type(sections) is not int or sections < 1 or is_by_data((shape[axis],)):
        raise DeclinedError("sections of a size of data")
    lengths = [plain((shape[axis] + sections - 1 - i) // sections) for i in range(sections)]
    return _parts(self, axis, lengths)


def grid_sampled(
    results: ResultFactory, self: torch.Tensor, grid: torch.Tensor, *_: Any
) -> QuickTensor:
    """Of F.grid_sample of images: [N, C, H, W] at [N, ..., 2]."""
    x, places = dims_of(self), dims_of(grid)
    if len(x) != 4 or len(places) != 4 or not same(x[0], places[0]) or places[-1] != 2:
        raise DeclinedError("a grid that does not fit")
    if not self.dtype.is_floating_point or self.dtype != grid.dtype:
        raise DeclinedError("a grid of another dtype")
    return results.dense((*x[:2], *places[1:-1]), self.dtype)


def pixel_unshuffle(
    results: ResultFactory, self: torch.Tensor, downscale_factor: int
) -> QuickTensor:
    """[*, C, H, W] -> [*, C r^2, H / r, W / r]. PyTorch's own makes it of views, which ask whether
    there is one block."""
    if self.ndim < 3:
        raise DeclinedError("blocks of a matrix")
    *batch, channels, height, width = dims_of(self)
    factor = downscale_factor
    sides = numbers((height, width))
    if type(factor) is not int or factor < 1 or any(side % factor for side in sides):
        raise DeclinedError("blocks that do not fit")
    if not results.strides.is_contiguous(dims_of(self), steps_of(self)):
        raise DeclinedError("blocks in another memory format")
    halves = (plain(height // factor), plain(width // factor))
    return results.dense((*batch, plain(channels * factor * factor), *halves), self.dtype)


def repeat(results: ResultFactory, self: torch.Tensor, repeats: Sequence[Size]) -> QuickTensor:
    counts, shape = list(map(plain, repeats)), dims_of(self)
    if len(counts) < len(shape) or not all(always(each >= 0) for each in counts):
        raise DeclinedError("a repetition of fewer dims, or of a negative count")
    if 0 in numbers(counts):
        raise DeclinedError("a repetition of no times")
    dims = (1,) * (len(counts) - len(shape)) + tuple(shape)
    return results.dense(tuple(plain(n * c) for n, c in zip(dims, counts, strict=True)), self.dtype)


def repeat_interleave(
    results: ResultFactory,
    self: torch.Tensor,
    repeats: Size,
    dim: int | None = None,
    *,
    output_size: Size | None = None,
) -> QuickTensor:
    """Each element so many times in a row."""
    shape, count = dims_of(self), plain(repeats)
    if dim is None or output_size is not None or not always(count >= 1):
        raise DeclinedError("a repetition along all dims")
    axis = wrapped_axis(dim, len(shape))
    dims = (*shape[:axis], plain(shape[axis] * count), *shape[axis + 1 :])
    return results.dense(dims, self.dtype)


def clone(results: ResultFactory, self: torch.Tensor, *, memory_format: Any = None) -> QuickTensor:
    if memory_format in (None, torch.preserve_format):
        return results.pointwise([self], self.dtype)
    if memory_format is not torch.contiguous_format:
        raise DeclinedError(f"the layout {memory_format}")
    return results.dense(dims_of(self), self.dtype)


def padded(
    results: ResultFactory,
    self: torch.Tensor,
    pad: Sequence[Size],
    mode: str = "constant",
    value: Any = None,
) -> QuickTensor:
    """Of torch.nn.functional.pad with a constant; `pad` begins with the last dim."""
    shape, widths = dims_of(self), list(map(plain, pad))
    if mode != "constant" or not isinstance(value, (int, float, type(None))):
        raise DeclinedError("a padding of another kind")
    if len(numbers(widths)) != len(widths) or min(widths, default=-1) < 0 or not any(widths):
        raise DeclinedError("a padding by symbolic sizes, or that cuts")
    if len(widths) % 2 or len(widths) > 2 * len(shape):
        raise DeclinedError("a padding of other dims")
    if not results.strides.is_contiguous(shape, steps_of(self)):
        raise DeclinedError("a padding in another layout")
    dims = list(shape)
    for i in range(0, len(widths), 2):
        axis = len(shape) - 1 - i // 2
        dims[axis] = plain(dims[axis] + widths[i] + widths[i + 1])
    return results.dense(tuple(dims), self.dtype)
