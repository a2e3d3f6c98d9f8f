"""Forms that symbolic functions choose between: extremes over an axis, over all, of two tensors;
operators that older opsets know for floating-point numbers alone; overloads by their arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .scalar_types import JitScalarType
from .symbolic_graph import GraphContext
from .symbolic_nodes import maybe_cast_to_type, reduced, reshape
from .symbolic_queries import get_const, get_tensor_rank, is_fp, is_value


def maximum(g: GraphContext, self: Any, dim_or_y: Any = None, keepdim: Any = None) -> Any:
    """torch.max: of all elements, of two tensors, or along an axis with the places."""
    return _extreme(g, "Max", self, dim_or_y, keepdim)


def minimum(g: GraphContext, self: Any, dim_or_y: Any = None, keepdim: Any = None) -> Any:
    """torch.min: as `maximum`."""
    return _extreme(g, "Min", self, dim_or_y, keepdim)


def _extreme(g: GraphContext, op: str, self: Any, dim_or_y: Any, keepdim: Any) -> Any:
    if dim_or_y is None and keepdim is None:
        return g.op("Reduce" + op, self, keepdims_i=0)
    if keepdim is None:
        return g.op(op, self, dim_or_y)
    axis = get_const(dim_or_y, "i", "dim")
    keeps = get_const(keepdim, "i", "keepdim")
    most = reduced(g, "Reduce" + op, self, [axis], keeps)
    return most, g.op("Arg" + op, self, axis_i=axis, keepdims_i=keeps)


def place_of_extreme(g: GraphContext, input: Any, dim: Any, keepdim: Any, op_name: str) -> Any:  # noqa: A002
    """ArgMax or ArgMin, along an axis or over all elements."""
    keeps = get_const(keepdim, "i", "keepdim")
    if dim is not None:
        axis = get_const(dim, "i", "dim")
        return g.op(op_name, input, axis_i=axis, keepdims_i=keeps)
    place = g.op(op_name, reshape(g, input, [-1]), axis_i=0, keepdims_i=0)
    return reshape(g, place, [1] * (get_tensor_rank(input) or 0)) if keeps else place


def reduced_over_all(g: GraphContext, self: Any, op_name: str) -> Any:
    """A reduction over all axes; of a tensor that holds nothing with axes of size 1."""
    sizes = self.type().sizes() or []
    return g.op(op_name, self, keepdims_i=int(0 in sizes))


def with_summable_type(g: GraphContext, self: Any) -> Any:
    """What is neither floating-point nor int64 as int64, as sums of PyTorch have it."""
    if self.type().dtype() is None or is_fp(self):
        return self
    return maybe_cast_to_type(g, self, JitScalarType.INT64)


def op_as_float(g: GraphContext, op_name: str, *args: Any, **kwargs: Any) -> Any:
    """A node whose operator knows floating-point numbers alone before `opset_before`, of integers
    with casts round it."""
    before = kwargs.pop("opset_before", None)
    wanted = kwargs.pop("target_float_t", JitScalarType.FLOAT)
    known = [value for value in args if is_value(value) and value.type().dtype() is not None]
    if (before is not None and g.opset >= before) or all(is_fp(value) for value in known):
        return g.op(op_name, *args, **kwargs)
    own = JitScalarType.from_value(known[0])
    cast = [maybe_cast_to_type(g, value, wanted) if is_value(value) else value for value in args]
    return maybe_cast_to_type(g, g.op(op_name, *cast, **kwargs), own)


def number_as_constant(g: GraphContext, scalar: Any) -> Any:
    """A number as a 0-d tensor of PyTorch's type for it; a value of the graph as it is."""
    import torch

    return scalar if is_value(scalar) else g.op("Constant", value_t=torch.tensor(scalar))


def number_of_type(self: Any, tensor: Any) -> Any:
    """A known tensor of one element as one of the element type of `tensor`; a value of the graph as
    it is."""
    dtype = tensor.type().dtype() if is_value(tensor) else None
    return self if is_value(self) or dtype is None else self.to(dtype)


def range_of_type(
    g: GraphContext, end: Any, start: Any = None, step: Any = None, dtype: int | None = None
) -> tuple[JitScalarType, Any, Any, Any]:
    """The bounds and the step of torch.arange as one element type, which comes first."""
    import torch

    given = [number_as_constant(g, each) for each in (end, start, step) if each is not None]
    types = [JitScalarType.from_value(value) for value in given]
    if dtype is not None:
        wanted = JitScalarType(dtype)
    elif all(not each.dtype().is_floating_point for each in types):
        wanted = JitScalarType.INT64
    else:
        wanted = JitScalarType.from_dtype(torch.get_default_dtype())
    cast = iter([maybe_cast_to_type(g, value, wanted) for value in given])
    made = [next(cast) if each is not None else None for each in (end, start, step)]
    return wanted, made[0], made[1], made[2]


def overload_by_arg_count(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of a function that returns overloads made with parse_args: calls that which takes as many
    arguments as are given. NotImplementedError where none does."""

    @functools.wraps(function)
    def chosen(g: GraphContext, *args: Any) -> Any:
        for overload in function(g, *args):
            if len(overload._arg_descriptors) == len(args):
                return overload(g, *args)
        raise NotImplementedError(f"Unknown aten::{function.__name__} signature")

    return chosen


def applied_to(*args: Any, **kwargs: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that calls the function that makes a symbolic function with these arguments."""
    return lambda function: function(*args, **kwargs)
