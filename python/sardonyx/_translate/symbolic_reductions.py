"""Reductions as symbolic functions write them: over some axes or all, with a type, variances and
norms."""

# Arguments have the names that torch.onnx.symbolic_helper's have, since callers give them by name.
# ruff: noqa: A002

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .scalar_types import JitScalarType
from .symbolic_arguments import parse_args
from .symbolic_forms import (
    overload_by_arg_count,
    reduced_over_all,
    with_summable_type,
)
from .symbolic_graph import GraphContext
from .symbolic_nodes import AXES_ARE_INPUTS, maybe_cast_to_type, reduced, reshape
from .symbolic_queries import get_const, is_packed_list, is_value


def reduction(onnx_op_name: str, allow_multi_dim_support: bool = True) -> Callable[..., Any]:
    """The symbolic function `(g, self, dim=None, keepdim=None)` of a reduction."""
    kind = "is" if allow_multi_dim_support else "i"

    def symbolic(g: GraphContext, self: Any, dim: Any = None, keepdim: Any = None) -> Any:
        self = with_summable_type(g, self)
        if dim is None or (is_packed_list(dim) and not dim):
            return reduced_over_all(g, self, onnx_op_name)
        keeps = int(get_const(keepdim, "i", "keepdim") or 0)
        if is_value(dim) and g.opset >= AXES_ARE_INPUTS:
            return g.op(onnx_op_name, self, dim, keepdims_i=keeps)
        axes = get_const(dim, kind, "dim")
        return reduced(g, onnx_op_name, self, axes if is_packed_list(axes) else [axes], keeps)

    return symbolic


def reduction_of_type(
    onnx_op: str, name: str, allow_multi_dim_support: bool = True
) -> Callable[..., Any]:
    """The symbolic function of a reduction that may be told the element type it computes in:
    `(g, self, dtype)` and `(g, self, dim, keepdim, dtype)`."""
    symbolic = reduction(onnx_op, allow_multi_dim_support)
    kind = "is" if allow_multi_dim_support else "i"

    def of_type(g: GraphContext, self: Any, dtype: Any, *others: Any) -> Any:
        if dtype is None:
            return symbolic(g, self, *others)
        wanted = _type_of(dtype)
        made = symbolic(g, maybe_cast_to_type(g, self, wanted), *others)
        return maybe_cast_to_type(g, made, wanted)

    @parse_args("v", "none")
    def over_all(g: GraphContext, self: Any, dtype: Any) -> Any:
        return of_type(g, self, dtype)

    @parse_args("v", kind, "i", "none")
    def over_axes(g: GraphContext, self: Any, dim: Any, keepdim: Any, dtype: Any) -> Any:
        return of_type(g, self, dtype, dim, keepdim)

    def reduce(_g: GraphContext, *_args: Any) -> Any:
        return over_all, over_axes

    reduce.__name__ = name
    return overload_by_arg_count(reduce)


def _type_of(dtype: Any) -> JitScalarType:
    """Of a number of TorchScript's, or of a torch.dtype."""
    known = get_const(dtype, "i", "dtype") if is_value(dtype) else dtype
    return JitScalarType(known) if isinstance(known, int) else JitScalarType.from_dtype(known)


def variance_and_mean(
    g: GraphContext, input: Any, dim: Sequence[int] | None, correction: Any, keepdim: Any
) -> tuple[Any, Any]:
    """torch.var_mean over some axes, or over all of them."""
    import torch

    rank = len(input.type().sizes() or [])
    axes = list(range(rank)) if dim is None else list(get_const(dim, "is", "dim"))
    keeps = 0 if dim is None else int(get_const(keepdim, "i", "keepdim") or 0)
    less = 1 if correction is None else get_const(correction, "f", "correction")
    center = reduced(g, "ReduceMean", input, axes, 1)
    apart = g.op("Sub", input, center)
    squares = reduced(g, "ReduceSum", g.op("Mul", apart, apart), axes, keeps)
    lengths = g.op(
        "Gather", g.op("Shape", input), g.op("Constant", value_t=torch.tensor(axes)), axis_i=0
    )
    own = JitScalarType.from_value(input)
    count = maybe_cast_to_type(g, g.op("ReduceProd", lengths, keepdims_i=0), own)
    corrected = g.op("Constant", value_t=torch.tensor(float(less), dtype=own.dtype()))
    variance = g.op("Div", squares, g.op("Sub", count, corrected))
    return variance, reduced(g, "ReduceMean", input, axes, keeps)


def vector_norm(  # noqa: PLR0917 (as it is called)
    g: GraphContext, self: Any, ord: float, dim: Sequence[int] | None, keepdim: Any, dtype: Any
) -> Any:
    """torch.linalg.vector_norm."""
    import torch

    if dim is None:
        self, dim, keepdim = reshape(g, self, [-1]), [0], 0
    axes, keeps, order = list(get_const(dim, "is", "dim")), int(keepdim), float(ord)
    own = JitScalarType.from_value(self)

    def number(value: float) -> Any:
        return g.op("Constant", value_t=torch.tensor(value, dtype=own.dtype()))

    if math.isinf(order):
        most = "ReduceMax" if order > 0 else "ReduceMin"
        result = reduced(g, most, g.op("Abs", self), axes, keeps)
    elif order == 0:
        others = g.op("Not", g.op("Equal", self, number(0)))
        result = reduced(g, "ReduceSum", maybe_cast_to_type(g, others, own), axes, keeps)
    elif order in (1, 2):
        result = reduced(g, f"ReduceL{int(order)}", self, axes, keeps)
    else:
        powers = g.op("Pow", g.op("Abs", self), number(order))
        total = reduced(g, "ReduceSum", powers, axes, keeps)
        result = g.op("Pow", total, number(1 / order))
    return result if dtype is None else maybe_cast_to_type(g, result, _type_of(dtype))
