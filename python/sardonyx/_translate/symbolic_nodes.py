"""Nodes that symbolic functions write often, as torch.onnx.symbolic_helper writes them: in forms of
opset 13, which all later ones have."""

# Arguments have the names that torch.onnx's have, since callers give them by name.
# ruff: noqa: A002

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .scalar_types import JitScalarType
from .symbolic_graph import GraphContext, GraphValue
from .symbolic_queries import get_tensor_rank, is_value, maybe_get_const, onnx_unsupported

# The first opset in which reductions other than ReduceSum take their axes as an input.
AXES_ARE_INPUTS = 18


def _listed(numbers: Any) -> list[Any]:
    return list(numbers) if isinstance(numbers, (list, tuple)) else [numbers]


def _integers(g: GraphContext, numbers: Any) -> Any:
    """A 1-D tensor of a list of numbers or of one; a value of the graph as it is."""
    import torch

    if is_value(numbers):
        return numbers
    return g.op("Constant", value_t=torch.tensor(_listed(numbers), dtype=torch.int64))


def squeeze(g: GraphContext, input: Any, axes_i: Any) -> Any:
    """Without these axes."""
    return g.op("Squeeze", input, _integers(g, axes_i))


def unsqueeze(g: GraphContext, input: Any, axes_i: Any) -> Any:
    """With axes of size 1 at these places of the result."""
    return g.op("Unsqueeze", input, _integers(g, axes_i))


def reduce_sum(
    g: GraphContext,
    input: Any,
    axes_i: Any = None,
    keepdims_i: int = 1,
    noop_with_empty_axes_i: int = 0,
) -> Any:
    """The sum over axes, over all of them where none are given."""
    axes = [] if axes_i is None else [_integers(g, axes_i)]
    named = {"keepdims_i": keepdims_i, "noop_with_empty_axes_i": noop_with_empty_axes_i}
    return g.op("ReduceSum", input, *axes, **named)


def reduced(g: GraphContext, op_name: str, x: Any, axes: Sequence[int], keepdim: int) -> Any:
    """A reduction over axes that are known, in the form of the opset at hand."""
    if op_name == "ReduceSum":
        return reduce_sum(g, x, axes, keepdims_i=keepdim)
    if g.opset < AXES_ARE_INPUTS:
        return g.op(op_name, x, axes_i=list(axes), keepdims_i=keepdim)
    return g.op(op_name, x, _integers(g, axes), keepdims_i=keepdim)


def slice_(  # noqa: PLR0917 (as it is called)
    g: GraphContext,
    input: Any,
    axes: Any,
    starts: Any,
    ends: Any,
    steps: Any = None,
) -> Any:
    """A range along each of the axes."""
    parts = [_integers(g, each) for each in (starts, ends, axes)]
    return g.op("Slice", input, *parts, *([] if steps is None else [_integers(g, steps)]))


def select(g: GraphContext, self: Any, dim: Any, index: Any, apply_reshape: bool = True) -> Any:
    """The element `index` of an axis, or the elements of several. An index that is a tensor of the
    graph keeps its rank."""
    known = maybe_get_const(index, "is") if is_value(index) else index
    if not is_value(known):
        import torch

        listed = _listed(known)
        numbers = torch.tensor(listed if len(listed) > 1 else listed[0], dtype=torch.int64)
        index = g.op("Constant", value_t=numbers)
    elif apply_reshape and (get_tensor_rank(index) or 0) > 0:
        index = g.op("Reshape", index, _integers(g, [-1]))
    return g.op("Gather", self, index, axis_i=dim)


def reshape(g: GraphContext, input: Any, shape: Any, allowzero: int = 0) -> Any:
    """Of another shape."""
    return g.op("Reshape", input, _integers(g, shape), allowzero_i=allowzero)


def size(g: GraphContext, self: Any, dim: Any) -> Any:
    """The size of one axis, 0-d."""
    return g.op("Gather", g.op("Shape", self), g.op("Constant", value_t=_number(dim)), axis_i=0)


def _number(value: Any) -> Any:
    import torch

    return torch.tensor(int(maybe_get_const(value, "i")), dtype=torch.int64)


def flatten(g: GraphContext, input: Any, start_dim: int, end_dim: int, dim: int) -> Any:
    """The axes from `start_dim` to `end_dim` of `dim` as one."""
    lengths = g.op("Shape", input)
    before = slice_(g, lengths, [0], [0], [start_dim])
    behind = slice_(g, lengths, [0], [end_dim + 1], [dim])
    shape = g.op("Concat", before, _integers(g, [-1]), behind, axis_i=0)
    return reshape(g, input, shape)


def topk(  # noqa: PLR0917 (as above)
    g: GraphContext,
    input: Any,
    k: Any,
    dim: int,
    largest: bool = True,
    sorted: bool = False,
    out: Any = None,
) -> Any:
    """The `k` largest or smallest elements along an axis, and their places."""
    if out is not None:
        onnx_unsupported("TopK with out=")
    count = _integers(g, maybe_get_const(k, "i"))
    if is_value(count) and get_tensor_rank(count) == 0:
        count = g.op("Reshape", count, _integers(g, [1]))
    named = {"axis_i": dim, "largest_i": int(largest), "sorted_i": int(sorted)}
    return g.op("TopK", input, count, outputs=2, **named)


def sort(g: GraphContext, input: Any, dim: int, decending: bool = True, out: Any = None) -> Any:
    """All elements along an axis in order, and their places."""
    length = slice_(g, g.op("Shape", input), [0], [dim], [dim + 1])
    return topk(g, input, length, dim, largest=decending, sorted=True, out=out)


def count_of_elements(g: GraphContext, self: Any) -> Any:
    """How many elements a tensor has, 0-d."""
    return g.op("Size", self)


def less(g: GraphContext, input: Any, other: Any) -> Any:
    """Elements of the first that are less."""
    return g.op("Less", input, other)


def maybe_cast_to_type(g: GraphContext, value: Any, jit_type: JitScalarType) -> Any:
    """Of another element type, where it has not that one."""
    dtype = value.type().dtype()
    if dtype is not None and JitScalarType.from_dtype(dtype) == jit_type:
        return value
    return g.op("Cast", value, to_i=jit_type.onnx_type())


def scatter(g: GraphContext, self: Any, dim: int, index: Any, src: Any) -> Any:
    """With the elements of `src` at these places along an axis."""
    return g.op("ScatterElements", self, index, src, axis_i=dim)


def unbind(g: GraphContext, self: Any, dim: int = 0, _outputs: int | None = None) -> Sequence[Any]:
    """The elements of an axis, of which there are `_outputs`."""
    count = _outputs or (self.type().sizes() or [None])[dim]
    if not count:
        onnx_unsupported("unbind of an axis whose size varies", self)
    parts = g.op("Split", self, _integers(g, [1] * count), axis_i=dim, outputs=count)
    listed: list[GraphValue] = [parts] if count == 1 else list(parts)
    return [squeeze(g, part, [dim]) for part in listed]
