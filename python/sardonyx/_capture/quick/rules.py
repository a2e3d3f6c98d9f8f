"""What operators give: dtype, sizes and strides of their results, by the operator's overload.

A rule takes what PyTorch's operator takes. It gives the result, or the input itself where PyTorch
gives that back, and declines what it is not sure of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .declining import Declined
from .sizes import (
    Size,
    Sizes,
    Strides,
    broadcast,
    filled_in,
    plain,
    same,
    strides_of_view,
    wrapped_axis,
)
from .tensor import QuickTensor

_aten = torch.ops.aten


def dims_of(tensor: torch.Tensor) -> Sizes:
    """Its sizes; those of a parameter are numbers."""
    return tensor.dims if type(tensor) is QuickTensor else tuple(tensor.shape)


def steps_of(tensor: torch.Tensor) -> Sizes:
    """Its strides."""
    return tensor.steps if type(tensor) is QuickTensor else tuple(tensor.stride())


class Rules:
    """The rules, with the strides of the shapes that they have met."""

    def __init__(self) -> None:
        self.strides = Strides()

    def of(self, func: Any) -> Callable[..., Any]:
        """The rule of an operator. Declines operators without one."""
        rule = _TABLE.get(func)
        if rule is None:
            raise Declined(f"no rule for {func}")
        return lambda *args, **kwargs: rule(self, *args, **kwargs)

    # --- making results

    def dense(self, dims: Sizes, dtype: torch.dtype) -> QuickTensor:
        """In row-major order."""
        return QuickTensor.of(dims, self.strides.contiguous(dims), dtype)

    def pointwise(self, tensors: Sequence[torch.Tensor], dtype: torch.dtype) -> QuickTensor:
        """As broadcasting elementwise operators give it."""
        shapes = [dims_of(tensor) for tensor in tensors]
        dims = broadcast(shapes)
        lie = [(shape, steps_of(each)) for shape, each in zip(shapes, tensors, strict=True)]
        if all(self.strides.is_contiguous(*each) for each in lie):
            return self.dense(dims, dtype)
        operands = [(dims, _spread(*each, len(dims))) for each in lie]
        return QuickTensor.of(dims, self.strides.permuted_as(dims, operands), dtype)


def _numbers(sizes: Sizes) -> list[int]:
    return [size for size in sizes if type(size) is int]


def _spread(shape: Sizes, steps: Sizes, rank: int) -> Sizes:
    """Strides by which the tensor takes part in a broadcast to `rank` dims."""
    own = [
        0 if type(size) is int and size == 1 else step
        for size, step in zip(shape, steps, strict=True)
    ]
    return tuple([0] * (rank - len(shape)) + own)


# --- elementwise


def _unary(rules: Rules, self: torch.Tensor, *_: Any, **__: Any) -> QuickTensor:
    if not self.dtype.is_floating_point:
        raise Declined("an elementwise operator on integers")
    return rules.pointwise([self], self.dtype)


def _unary_any(rules: Rules, self: torch.Tensor) -> QuickTensor:
    return rules.pointwise([self], self.dtype)


def _binary(rules: Rules, self: Any, other: Any, **_: Any) -> QuickTensor:
    tensors = [each for each in (self, other) if isinstance(each, torch.Tensor)]
    return rules.pointwise(tensors, _promoted(self, other))


def _division(rules: Rules, self: Any, other: Any) -> QuickTensor:
    dtype = _promoted(self, other)
    tensors = [each for each in (self, other) if isinstance(each, torch.Tensor)]
    return rules.pointwise(tensors, dtype if dtype.is_floating_point else _default_float())


def _power(rules: Rules, self: torch.Tensor, exponent: Any) -> QuickTensor:
    return _binary(rules, self, exponent)


def _comparison(rules: Rules, self: torch.Tensor, other: Any) -> QuickTensor:
    tensors = [each for each in (self, other) if isinstance(each, torch.Tensor)]
    return rules.pointwise(tensors, torch.bool)


def _where(rules: Rules, condition: torch.Tensor, self: Any, other: Any) -> QuickTensor:
    tensors = [each for each in (condition, self, other) if isinstance(each, torch.Tensor)]
    return rules.pointwise(tensors, _promoted(self, other))


def _masked_fill(
    rules: Rules, self: torch.Tensor, mask: torch.Tensor, value: Any
) -> QuickTensor:
    return rules.pointwise([self, mask], self.dtype)


def _promoted(a: Any, b: Any) -> torch.dtype:
    """As torch.result_type, which would run the tensors."""

    for each in (a, b):
        if not isinstance(each, (torch.Tensor, bool, int, float)):
            raise Declined(f"a {type(each).__name__} in arithmetic")
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
    standard = (torch.bool, torch.int64, _default_float())[kind]
    return _with_scalar(a.dtype, kind, standard)


def _category(dtype: torch.dtype) -> int:
    if dtype.is_complex:
        raise Declined("complex numbers")
    return 0 if dtype is torch.bool else 2 if dtype.is_floating_point else 1


def _with_scalar(dtype: torch.dtype, kind: int, scalar: torch.dtype) -> torch.dtype:
    return dtype if kind <= _category(dtype) else scalar


def _default_float() -> torch.dtype:
    return torch.get_default_dtype()


# --- layout


def _transpose(rules: Rules, self: torch.Tensor, dim0: int, dim1: int) -> QuickTensor:
    order = list(range(len(dims_of(self))))
    first, second = wrapped_axis(dim0, len(order)), wrapped_axis(dim1, len(order))
    order[first], order[second] = order[second], order[first]
    return _permute(rules, self, order)


def _permute(rules: Rules, self: torch.Tensor, dims: Sequence[int]) -> QuickTensor:
    shape, steps = dims_of(self), steps_of(self)
    order = [wrapped_axis(axis, len(shape)) for axis in dims]
    if sorted(order) != list(range(len(shape))):
        raise Declined("axes that are no permutation")
    return QuickTensor.of(
        tuple(shape[a] for a in order), tuple(steps[a] for a in order), self.dtype
    )


def _t(rules: Rules, self: torch.Tensor) -> QuickTensor:
    if len(dims_of(self)) != 2:
        raise Declined("t() of what is no matrix")
    return _permute(rules, self, (1, 0))


def _unsqueeze(rules: Rules, self: torch.Tensor, dim: int) -> QuickTensor:
    shape, steps = dims_of(self), steps_of(self)
    axis = wrapped_axis(dim, len(shape) + 1)
    step = plain(shape[axis] * steps[axis]) if axis < len(shape) else 1
    return QuickTensor.of(
        (*shape[:axis], 1, *shape[axis:]), (*steps[:axis], step, *steps[axis:]), self.dtype
    )


def _expand(
    rules: Rules, self: torch.Tensor, size: Sequence[Size], *, implicit: bool = False
) -> QuickTensor:
    shape, steps = dims_of(self), steps_of(self)
    new = len(size) - len(shape)
    if new < 0:
        raise Declined("an expansion to fewer dims")
    dims: list[Size] = [plain(each) for each in size[:new]]
    strides: list[Size] = [0] * new
    for have, step, each in zip(shape, steps, size[new:], strict=True):
        want = plain(each)
        if (type(want) is int and want == -1) or same(have, want):
            dims.append(have)
            strides.append(step)
        elif type(have) is int and have == 1:
            dims.append(want)
            strides.append(0)
        else:
            raise Declined(f"an expansion from {have} to {want}")
    if any(type(each) is int and each < 0 for each in dims):
        raise Declined("an expansion of no axis to -1")
    return QuickTensor.of(tuple(dims), tuple(strides), self.dtype)


def _view(rules: Rules, self: torch.Tensor, size: Sequence[Size]) -> QuickTensor:
    made = _viewed(rules, self, size)
    if made is None:
        raise Declined("a view that the layout does not allow")
    return made


def _reshape(rules: Rules, self: torch.Tensor, shape: Sequence[Size]) -> QuickTensor:
    made = _viewed(rules, self, shape)
    return rules.dense(filled_in(shape, dims_of(self)), self.dtype) if made is None else made


def _viewed(rules: Rules, self: torch.Tensor, size: Sequence[Size]) -> QuickTensor | None:
    shape, steps = dims_of(self), steps_of(self)
    wanted = filled_in(size, shape)
    if rules.strides.is_contiguous(shape, steps):
        return rules.dense(wanted, self.dtype)
    strides = strides_of_view(shape, steps, wanted)
    return None if strides is None else QuickTensor.of(wanted, strides, self.dtype)


def _contiguous(
    rules: Rules, self: torch.Tensor, *, memory_format: Any = torch.contiguous_format
) -> torch.Tensor:
    if memory_format is not torch.contiguous_format:
        raise Declined(f"the layout {memory_format}")
    if rules.strides.is_contiguous(dims_of(self), steps_of(self)):
        return self
    return rules.dense(dims_of(self), self.dtype)


def _slice(
    rules: Rules,
    self: torch.Tensor,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: Size = 1,
) -> QuickTensor:
    shape, steps = dims_of(self), steps_of(self)
    axis = wrapped_axis(dim, len(shape))
    size = shape[axis]
    first, last = _bound(start, size, 0), _bound(end, size, size)
    if type(step) is not int or step < 1:
        raise Declined("a slice with a symbolic step")
    length = plain(last - first)
    if type(length) is int:
        length = max(length, 0)
    elif not _always(length >= 0):
        raise Declined("a slice that may be empty")
    if step != 1:
        length = plain((length + step - 1) // step)
    return QuickTensor.of(
        (*shape[:axis], length, *shape[axis + 1 :]),
        (*steps[:axis], plain(steps[axis] * step), *steps[axis + 1 :]),
        self.dtype,
    )


def _bound(given: Size | None, size: Size, otherwise: Size) -> Size:
    """Where a slice begins or ends, between 0 and `size`."""
    if given is None:
        return otherwise
    given = plain(given)
    if type(given) is int and given == 0x7FFFFFFFFFFFFFFF:
        return size
    if _always(given < 0):
        given = plain(given + size)
    if _always(given >= 0) and _always(given <= size):
        return given
    if _always(given >= size):
        return size
    if _always(given <= 0):
        return 0
    raise Declined("a slice whose ends depend on sizes")


def _always(said: Any) -> bool:
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    return said if type(said) is bool else bool(statically_known_true(said))


def _select(rules: Rules, self: torch.Tensor, dim: int, index: Size) -> QuickTensor:
    shape, steps = dims_of(self), steps_of(self)
    axis = wrapped_axis(dim, len(shape))
    if not shape or not (_always(index < shape[axis]) and _always(index >= -shape[axis])):
        raise Declined("an index that may be out of bounds")
    return QuickTensor.of(
        (*shape[:axis], *shape[axis + 1 :]), (*steps[:axis], *steps[axis + 1 :]), self.dtype
    )


def _cat(rules: Rules, tensors: Sequence[torch.Tensor], dim: int = 0) -> QuickTensor:
    shapes = [dims_of(tensor) for tensor in tensors]
    axis = wrapped_axis(dim, len(shapes[0]))
    if any(len(shape) != len(shapes[0]) or 0 in _numbers(shape) for shape in shapes):
        raise Declined("empty tensors in cat")
    if len({tensor.dtype for tensor in tensors}) != 1:
        raise Declined("tensors of several types in cat")
    for tensor in tensors:
        if not rules.strides.is_contiguous(dims_of(tensor), steps_of(tensor)):
            _rows_or_declined(rules, tensors)
    for other in shapes[1:]:
        for i, (a, b) in enumerate(zip(shapes[0], other, strict=True)):
            if i != axis and not same(a, b):
                raise Declined(f"sizes {a} and {b} meet in cat")
    total = plain(sum(shape[axis] for shape in shapes))
    dims = (*shapes[0][:axis], total, *shapes[0][axis + 1 :])
    return rules.dense(dims, tensors[0].dtype)


def _rows_or_declined(rules: Rules, tensors: Sequence[torch.Tensor]) -> None:
    """cat keeps the layout of channels last where all of its tensors have it."""
    if len(dims_of(tensors[0])) in (4, 5) and all(
        _may_be_channels_last(tensor) for tensor in tensors
    ):
        raise Declined("cat of tensors in another layout")


def _may_be_channels_last(tensor: torch.Tensor) -> bool:
    step = steps_of(tensor)[1]
    return type(step) is int and step == 1


def _split(
    rules: Rules, self: torch.Tensor, split_size: Size, dim: int = 0
) -> list[QuickTensor]:
    shape = dims_of(self)
    axis = wrapped_axis(dim, len(shape))
    if type(shape[axis]) is not int or type(split_size) is not int or split_size < 1:
        raise Declined("a split of symbolic sizes")
    starts = range(0, shape[axis], split_size)
    return [_slice(rules, self, axis, s, min(s + split_size, shape[axis])) for s in starts]


def _chunk(rules: Rules, self: torch.Tensor, chunks: int, dim: int = 0) -> list[QuickTensor]:
    size = dims_of(self)[wrapped_axis(dim, len(dims_of(self)))]
    if type(size) is not int or size < chunks:
        raise Declined("chunks of a symbolic size")
    return _split(rules, self, -(-size // chunks), dim)


# --- types


def _to_dtype(
    rules: Rules,
    self: torch.Tensor,
    dtype: torch.dtype,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> torch.Tensor:
    if copy or memory_format not in (None, torch.preserve_format):
        raise Declined("a copy in another layout")
    return self if dtype is self.dtype else rules.pointwise([self], dtype)


def _to_layout(
    rules: Rules,
    self: torch.Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    **others: Any,
) -> torch.Tensor:
    _dense_on_cpu(layout, device, pin_memory)
    return _to_dtype(rules, self, dtype or self.dtype, **others)


def _to_device(
    rules: Rules, self: torch.Tensor, device: Any, dtype: torch.dtype, *others: Any, **named: Any
) -> torch.Tensor:
    _dense_on_cpu(None, device, None)
    return _to_dtype(rules, self, dtype, *others, **named)


def _type_as(rules: Rules, self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return _to_dtype(rules, self, other.dtype)


def _dense_on_cpu(layout: Any, device: Any, pin_memory: Any) -> None:
    if layout not in (None, torch.strided) or pin_memory:
        raise Declined("a tensor that is not dense")
    if device is not None and torch.device(device).type != "cpu":
        raise Declined(f"the device {device}")


# --- making


def _arange(rules: Rules, end: Size, **options: Any) -> QuickTensor:
    return _arange_from(rules, 0, end, **options)


def _arange_from(
    rules: Rules,
    start: Size,
    end: Size,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> QuickTensor:
    _dense_on_cpu(layout, device, pin_memory)
    length = plain(plain(end) - plain(start))
    if not _always(length >= 0):
        raise Declined("a range that may be empty")
    return rules.dense((length,), dtype or torch.int64)


def _filled(rules: Rules, size: Sequence[Size], *_: Any, **options: Any) -> QuickTensor:
    dtype = options.pop("dtype", None)
    if dtype is None and _:
        if type(_[0]) not in (bool, int, float):
            raise Declined("a symbolic value")
        dtype = {bool: torch.bool, int: torch.int64}.get(type(_[0]))
    _dense_on_cpu(options.get("layout"), options.get("device"), options.get("pin_memory"))
    return rules.dense(tuple(map(plain, size)), dtype or _default_float())


# --- products


def _linear(
    rules: Rules, input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> QuickTensor:
    shape, (outs, ins) = dims_of(input), _matrix(weight)
    if not shape or not same(shape[-1], ins) or input.dtype != weight.dtype:
        raise Declined("linear of what does not fit")
    if bias is not None and (len(dims_of(bias)) != 1 or not same(dims_of(bias)[0], outs)):
        raise Declined("linear with another bias")
    return rules.dense((*shape[:-1], outs), input.dtype)


def _matrix(tensor: torch.Tensor) -> Sizes:
    shape = dims_of(tensor)
    if len(shape) != 2:
        raise Declined("a matrix is wanted")
    return shape


def _addmm(
    rules: Rules, self: torch.Tensor, mat1: torch.Tensor, mat2: torch.Tensor, **_: Any
) -> QuickTensor:
    (rows, inner), (depth, columns) = _matrix(mat1), _matrix(mat2)
    if not same(inner, depth) or not self.dtype == mat1.dtype == mat2.dtype:
        raise Declined("addmm of what does not fit")
    if broadcast([dims_of(self), (rows, columns)]) != (rows, columns):
        raise Declined("addmm of what does not fit")
    return rules.dense((rows, columns), self.dtype)


def _matmul(rules: Rules, self: torch.Tensor, other: torch.Tensor) -> QuickTensor:
    a, b = dims_of(self), dims_of(other)
    if len(a) < 2 or len(b) < 2 or self.dtype != other.dtype or not same(a[-1], b[-2]):
        raise Declined("matmul of vectors, or of what does not fit")
    if len(a) != len(b) and not (len(b) == 2 and rules.strides.is_contiguous(a, steps_of(self))):
        raise Declined("matmul of tensors of different rank")
    return rules.dense((*broadcast([a[:-2], b[:-2]]), a[-2], b[-1]), self.dtype)


def _embedding(
    rules: Rules, weight: torch.Tensor, indices: torch.Tensor, *_: Any, **__: Any
) -> QuickTensor:
    return rules.dense((*dims_of(indices), _matrix(weight)[1]), weight.dtype)


def _attention(
    rules: Rules,
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
    """The CPU's kernel gives queries, heads in the order of its memory: batch, queries, heads."""
    q, k, v = dims_of(query), dims_of(key), dims_of(value)
    if not len(q) == len(k) == len(v) == 4 or dropout_p or query.dtype != torch.float32:
        raise Declined("attention of another kind")
    if enable_gqa or not (key.dtype == value.dtype == query.dtype):
        raise Declined("attention of another kind")
    if not (same(q[3], k[3]) and same(k[2], v[2]) and same(q[3], v[3])):
        raise Declined("attention of what does not fit")
    if not all(same(q[i], k[i]) and same(k[i], v[i]) for i in (0, 1)):
        raise Declined("attention of what does not fit")
    if attn_mask is not None and attn_mask.requires_grad:
        raise Declined("attention with a mask that learns")
    if any(same(steps_of(t)[3], 1) is False for t in (query, key, value)):
        raise Declined("attention in another layout")
    rows = rules.dense((q[0], q[2], q[1], v[3]), query.dtype)
    return _transpose(rules, rows, 1, 2)


# --- reductions and networks


def _mean(
    rules: Rules,
    self: torch.Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> QuickTensor:
    shape = dims_of(self)
    if not dim or not (dtype or self.dtype).is_floating_point:
        raise Declined("a mean of everything, or of integers")
    if not rules.strides.is_contiguous(shape, steps_of(self)):
        raise Declined("a mean in another layout")
    axes = {wrapped_axis(axis, len(shape)) for axis in dim}
    kept = [
        1 if i in axes else size for i, size in enumerate(shape) if keepdim or i not in axes
    ]
    return rules.dense(tuple(kept), dtype or self.dtype)


def _softmax(rules: Rules, self: torch.Tensor, dim: int, dtype: Any = None) -> QuickTensor:
    wrapped_axis(dim, len(dims_of(self)))
    if not rules.strides.is_contiguous(dims_of(self), steps_of(self)):
        raise Declined("softmax in another layout")
    return rules.dense(dims_of(self), dtype or self.dtype)


def _layer_norm(
    rules: Rules, input: torch.Tensor, normalized_shape: Sequence[Size], *_: Any, **__: Any
) -> QuickTensor:
    inner = dims_of(input)[len(dims_of(input)) - len(normalized_shape) :]
    if len(inner) != len(normalized_shape) or not all(map(same, inner, normalized_shape)):
        raise Declined("a normalisation of what does not fit")
    return rules.dense(dims_of(input), input.dtype)


def _dropout(rules: Rules, input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    if train and p:
        raise Declined("dropout in training")
    return input


_TABLE: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys(
        (
            _aten.cos.default, _aten.sin.default, _aten.tanh.default, _aten.gelu.default,
            _aten.silu.default, _aten.sigmoid.default, _aten.exp.default, _aten.rsqrt.default,
            _aten.sqrt.default, _aten.erf.default,
        ),
        _unary,
    ),
    **dict.fromkeys((_aten.neg.default, _aten.relu.default, _aten.abs.default), _unary_any),
    **dict.fromkeys((_aten.add.Tensor, _aten.sub.Tensor, _aten.mul.Tensor), _binary),
    _aten.div.Tensor: _division,
    **dict.fromkeys((_aten.pow.Tensor_Scalar, _aten.pow.Tensor_Tensor), _power),
    **dict.fromkeys(
        (
            _aten.eq.Tensor, _aten.ne.Tensor, _aten.lt.Tensor, _aten.le.Tensor, _aten.gt.Tensor,
            _aten.ge.Tensor, _aten.eq.Scalar, _aten.ne.Scalar, _aten.lt.Scalar, _aten.le.Scalar,
            _aten.gt.Scalar, _aten.ge.Scalar,
        ),
        _comparison,
    ),
    **dict.fromkeys((_aten.where.self, _aten.where.ScalarOther), _where),
    _aten.masked_fill.Scalar: _masked_fill,
    _aten.transpose.int: _transpose,
    _aten.permute.default: _permute,
    _aten.t.default: _t,
    _aten.unsqueeze.default: _unsqueeze,
    _aten.expand.default: _expand,
    _aten.view.default: _view,
    _aten.reshape.default: _reshape,
    _aten.contiguous.default: _contiguous,
    _aten.slice.Tensor: _slice,
    _aten.select.int: _select,
    _aten.cat.default: _cat,
    _aten.split.Tensor: _split,
    _aten.chunk.default: _chunk,
    _aten.to.dtype: _to_dtype,
    _aten.to.dtype_layout: _to_layout,
    _aten.to.device: _to_device,
    _aten.type_as.default: _type_as,
    _aten.arange.default: _arange,
    _aten.arange.start: _arange_from,
    **dict.fromkeys((_aten.zeros.default, _aten.ones.default, _aten.full.default), _filled),
    _aten.linear.default: _linear,
    _aten.addmm.default: _addmm,
    _aten.matmul.default: _matmul,
    _aten.embedding.default: _embedding,
    _aten.scaled_dot_product_attention.default: _attention,
    _aten.mean.dim: _mean,
    _aten.softmax.int: _softmax,
    _aten.layer_norm.default: _layer_norm,
    _aten.dropout.default: _dropout,
}  # fmt: skip
