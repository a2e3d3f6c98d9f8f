"""Rules of products, of what looks elements up, and of networks."""

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
    broadcast,
    hint,
    made_same,
    plain,
    product,
    same,
    wrapped_axis,
)
from sardonyx._torch_private.operators import dropout_gives_its_input

from .layout import cat, reshape
from .results import ResultFactory, always, dims_of, steps_of
from .tensor import QuickTensor


def linear(
    results: ResultFactory,
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
) -> QuickTensor:
    shape, (outs, ins) = dims_of(input), _matrix(weight)
    if bias is not None and not (
        len(dims_of(bias)) == 1 and same(dims_of(bias)[0], outs) and bias.dtype == input.dtype
    ):
        raise DeclinedError("linear with another bias")
    if not shape or input.dtype != weight.dtype or not made_same(shape[-1], ins):
        raise DeclinedError("linear of what does not fit")
    return results.dense((*shape[:-1], outs), input.dtype)


def _matrix(tensor: torch.Tensor) -> Sizes:
    shape = dims_of(tensor)
    if len(shape) != 2:
        raise DeclinedError("a matrix is wanted")
    return shape


def addmm(
    results: ResultFactory, self: torch.Tensor, mat1: torch.Tensor, mat2: torch.Tensor, **_: Any
) -> QuickTensor:
    (rows, inner), (depth, columns) = _matrix(mat1), _matrix(mat2)
    if not self.dtype == mat1.dtype == mat2.dtype or not made_same(inner, depth):
        raise DeclinedError("addmm of what does not fit")
    if broadcast([dims_of(self), (rows, columns)]) != (rows, columns):
        raise DeclinedError("addmm of what does not fit")
    return results.dense((rows, columns), self.dtype)


def bmm(results: ResultFactory, self: torch.Tensor, mat2: torch.Tensor) -> QuickTensor:
    a, b = dims_of(self), dims_of(mat2)
    if not len(a) == len(b) == 3 or self.dtype != mat2.dtype:
        raise DeclinedError("bmm of what are no stacks of matrices")
    if not (made_same(a[0], b[0]) and made_same(a[2], b[1])):
        raise DeclinedError("bmm of what does not fit")
    return results.dense((a[0], a[1], b[2]), self.dtype)


def matmul(results: ResultFactory, self: torch.Tensor, other: torch.Tensor) -> QuickTensor:
    a, b = dims_of(self), dims_of(other)
    if len(a) < 2 or len(b) < 2 or self.dtype != other.dtype:
        raise DeclinedError("matmul of vectors, or of what does not fit")
    if len(a) != len(b) and not (len(b) == 2 and results.strides.is_contiguous(a, steps_of(self))):
        raise DeclinedError("matmul of tensors of different rank")
    if not made_same(a[-1], b[-2]):
        raise DeclinedError("matmul of what does not fit")
    return results.dense((*broadcast([a[:-2], b[:-2]]), a[-2], b[-1]), self.dtype)


def distances(
    results: ResultFactory, x1: torch.Tensor, x2: torch.Tensor, *_: Any, **__: Any
) -> QuickTensor:
    """Of torch.cdist. PyTorch's own asks whether there are more than 25 rows, by which it chooses
    how to compute them."""
    a, b = dims_of(x1), dims_of(x2)
    if len(a) < 2 or len(b) < 2 or not made_same(a[-1], b[-1]):
        raise DeclinedError("distances of vectors, or of what does not fit")
    if x1.dtype != x2.dtype or x1.dtype not in (torch.float32, torch.float64):
        raise DeclinedError("distances of other types")
    return results.dense((*broadcast([a[:-2], b[:-2]]), a[-2], b[-2]), x1.dtype)


def embedding(
    results: ResultFactory, weight: torch.Tensor, indices: torch.Tensor, *_: Any, **__: Any
) -> QuickTensor:
    _check_integers(indices)
    return results.dense((*dims_of(indices), _matrix(weight)[1]), weight.dtype)


def _check_integers(tensor: torch.Tensor) -> None:
    if tensor.dtype not in (torch.int64, torch.int32):
        raise DeclinedError("indexing by what is no integer")


def diff(
    results: ResultFactory,
    self: torch.Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: torch.Tensor | None = None,
    append: torch.Tensor | None = None,
) -> QuickTensor:
    tensors = [each for each in (prepend, self, append) if each is not None]
    if not all(results.strides.is_contiguous(dims_of(t), steps_of(t)) for t in tensors):
        raise DeclinedError("differences in another layout")
    if len({len(dims_of(each)) for each in tensors}) != 1:
        raise DeclinedError("differences of what does not fit")
    whole = cat(results, tensors, dim)
    axis = wrapped_axis(dim, len(whole.dims))
    length = plain(whole.dims[axis] - 1)
    if n != 1:
        raise DeclinedError("differences of differences")
    if results.holds is not None:
        if not results.holds(length >= 0):
            length = plain(torch.sym_max(length, 0))
    elif not always(length >= 1):
        raise DeclinedError("differences of what may be one element")
    dims = (*whole.dims[:axis], length, *whole.dims[axis + 1 :])
    return results.dense(dims, self.dtype)


def index(
    results: ResultFactory, self: torch.Tensor, indices: Sequence[torch.Tensor | None]
) -> QuickTensor:
    """Tensors of integers for the first dims, one after the other."""
    shape = dims_of(self)
    tensors = [each for each in indices if each is not None]
    if not tensors or len(tensors) != len(indices) or len(tensors) > len(shape):
        raise DeclinedError("indexing with slices between")
    for each in tensors:
        _check_integers(each)
    # Where every dim is indexed, it is no matter where the elements lie.
    lie = tensors if len(tensors) == len(shape) else [self, *tensors]
    if not all(results.strides.is_contiguous(dims_of(t), steps_of(t)) for t in lie):
        raise DeclinedError("indexing in another layout")
    return results.dense(
        (*broadcast(list(map(dims_of, tensors))), *shape[len(tensors) :]), self.dtype
    )


def flatten(
    results: ResultFactory, self: torch.Tensor, start_dim: int = 0, end_dim: int = -1
) -> torch.Tensor:
    shape = dims_of(self)
    first, last = wrapped_axis(start_dim, len(shape)), wrapped_axis(end_dim, len(shape))
    if not shape or first >= last:
        raise DeclinedError("flatten of one axis")
    whole = product(shape[first : last + 1])
    return reshape(results, self, (*shape[:first], whole, *shape[last + 1 :]))


def gather(
    results: ResultFactory,
    self: torch.Tensor,
    dim: int,
    index: torch.Tensor,
    *,
    sparse_grad: bool = False,
) -> QuickTensor:
    shape, wanted = dims_of(self), dims_of(index)
    axis = wrapped_axis(dim, len(shape))
    if len(wanted) != len(shape) or not all(
        i == axis or always(a <= b) for i, (a, b) in enumerate(zip(wanted, shape, strict=True))
    ):
        raise DeclinedError("gather of what does not fit")
    _check_integers(index)
    return results.dense(dims_of(index), self.dtype)


def softmax(results: ResultFactory, self: torch.Tensor, dim: int, dtype: Any = None) -> QuickTensor:
    wrapped_axis(dim, len(dims_of(self)))
    if not results.strides.is_contiguous(dims_of(self), steps_of(self)):
        raise DeclinedError("softmax in another layout")
    return results.dense(dims_of(self), dtype or self.dtype)


def layer_norm(
    results: ResultFactory,
    input: torch.Tensor,
    normalized_shape: Sequence[Size],
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    *_: Any,
    **__: Any,
) -> QuickTensor:
    rank, depth = len(dims_of(input)), len(normalized_shape)
    if not 0 < depth <= rank or not input.dtype.is_floating_point:
        raise DeclinedError("a normalization of what does not fit")
    inner = dims_of(input)[rank - depth :]
    factors = [each for each in (weight, bias) if each is not None]
    if any(each.dtype != input.dtype for each in factors):
        raise DeclinedError("a normalization with other types")
    for shape in (normalized_shape, *map(dims_of, factors)):
        if len(shape) != depth or not all(map(same, inner, shape)):
            raise DeclinedError("a normalization of what does not fit")
    return results.dense(dims_of(input), input.dtype)


def group_norm(
    results: ResultFactory,
    input: torch.Tensor,
    num_groups: int,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    *_: Any,
    **__: Any,
) -> QuickTensor:
    """Of [N, C, ...] in row-major order, in groups of channels."""
    shape = dims_of(input)
    if len(shape) < 2 or not input.dtype.is_floating_point or type(shape[1]) is not int:
        raise DeclinedError("a normalization of what does not fit")
    if num_groups < 1 or not shape[1] or shape[1] % num_groups:
        raise DeclinedError("a normalization of other groups")
    for factor in (weight, bias):
        if factor is not None and (dims_of(factor) != (shape[1],) or factor.dtype != input.dtype):
            raise DeclinedError("a normalization with other factors")
    if not results.strides.is_contiguous(shape, steps_of(input)):
        raise DeclinedError("a normalization in another layout")
    return results.dense(shape, input.dtype)


def dropout(results: ResultFactory, input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    if train and p:
        raise DeclinedError("dropout in training")
    if dropout_gives_its_input():
        return input
    return results.pointwise([input], input.dtype)


def attention(
    results: ResultFactory,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> QuickTensor:
    """What the CPU's flash kernel takes; PyTorch has that give what lies as the queries do. Values
    of another width than the keys' are multiplied without it."""
    tensors = (query, key, value)
    q, k, v = (dims_of(each) for each in tensors)
    if not len(q) == len(k) == len(v) == 4 or dropout_p or is_causal or enable_gqa:
        raise DeclinedError("attention of another kind")
    if any(each.dtype != torch.float32 for each in tensors):
        raise DeclinedError("attention of another kind")
    if any(type(steps_of(each)[3]) is not int or steps_of(each)[3] != 1 for each in tensors):
        raise DeclinedError("attention in another layout")
    if not (same(q[3], k[3]) and hint(k[2]) == hint(v[2])):
        raise DeclinedError("attention of what does not fit")
    if not all(type(n) is int for n in (q[1], k[1], v[1], q[3], v[3])) or not q[1] == k[1] == v[1]:
        raise DeclinedError("attention of another kind")
    if not (made_same(q[0], k[0]) and made_same(q[0], v[0])):
        raise DeclinedError("attention of what does not fit")
    if any(not always(n >= 1) for n in (q[0], q[2], k[2])):
        raise DeclinedError("attention of nothing")
    if attn_mask is not None:
        _check_mask(attn_mask, q, k)
    if v[3] != q[3]:
        return results.dense((*q[:3], v[3]), query.dtype)
    return results.pointwise([query], query.dtype)


def _check_mask(mask: torch.Tensor, q: Sizes, k: Sizes) -> None:
    if mask.requires_grad or mask.dtype not in (torch.bool, torch.float32):
        raise DeclinedError("attention with a mask of another kind")
    shape = dims_of(mask)
    if len(shape) not in (2, 4):
        raise DeclinedError("attention with a mask of another rank")
    wanted = (q[0], q[1], q[2], k[2])[4 - len(shape) :]
    for have, want in zip(shape, wanted, strict=True):
        if not (type(have) is int and have == 1) and not made_same(want, have):
            raise DeclinedError("attention with a mask that does not fit")


def affine_grid(
    results: ResultFactory, theta: torch.Tensor, size: Sequence[Size], align_corners: bool
) -> QuickTensor:
    """PyTorch's decomposition takes sizes for numbers."""
    shape, wanted = dims_of(theta), tuple(map(plain, size))
    axes = len(wanted) - 2
    if axes not in (2, 3) or len(shape) != 3 or shape[1:] != (axes, axes + 1):
        raise DeclinedError("a grid of another rank")
    if not made_same(shape[0], wanted[0]) or not theta.dtype.is_floating_point:
        raise DeclinedError("a grid for another batch")
    return results.dense((wanted[0], *wanted[2:], axes), theta.dtype)
