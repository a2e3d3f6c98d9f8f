"""Parts of layers as symbolic functions write them: what batch norm and pooling are given, bags of
embeddings, ranges, repetitions, places to fill."""

# Arguments have the names that torch.onnx.symbolic_helper's have, since callers give them by name.
# ruff: noqa: A002

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .scalar_types import JitScalarType
from .symbolic_forms import range_of_type
from .symbolic_graph import GraphContext
from .symbolic_nodes import (
    maybe_cast_to_type,
    reduced,
    reshape,
    scatter,
    slice_,
    squeeze,
    unsqueeze,
)
from .symbolic_queries import (
    get_tensor_dim_size,
    get_tensor_rank,
    is_packed_list,
    is_value,
    maybe_get_const,
    onnx_unsupported,
    parse_arg,
    unimplemented,
)
from .symbolic_reductions import variance_and_mean

_END = 2**63 - 1
_BOOL = 9  # TensorProto.BOOL
_SUM, _MEAN, _MAX = range(3)  # the modes of aten::embedding_bag


def absent(g: GraphContext) -> None:
    """What stands for an input of a node that is not given."""
    del g


def unpacked_quantized(tuple_value: Any) -> tuple[Any, ...]:
    """The tensor, the scale, the zero point and, where there is one, the axis of a quantized
    tensor. Raises OnnxExporterError for anything else."""
    if not is_packed_list(tuple_value) or len(tuple_value) not in (3, 4):
        onnx_unsupported("a quantized tensor, which is a tuple of a tensor, a scale and a zero "
                         "point", tuple_value)  # fmt: skip
    return tuple(tuple_value)


def list_type(jit_type: Any) -> Any:
    """The type where it is that of a list; None where it is a tensor's."""
    return jit_type if is_packed_list(jit_type) else None


def attribute(node: Any, key: str) -> Any:
    """An attribute of a node, whatever its type."""
    return node[key]


def batch_norm_parameters(  # noqa: PLR0917 (as it is called)
    g: GraphContext, input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any
) -> tuple[Any, Any, Any, Any]:
    """All four that BatchNormalization takes: ones and zeros for a weight and a bias that are not
    given, and the batch's own statistics for those that are not kept. Raises OnnxExporterError
    where the number of channels is not known."""
    import torch

    channels = get_tensor_dim_size(input, 1)
    if channels is None and (weight is None or bias is None):
        onnx_unsupported("batch_norm for unknown channel size", input)
    dtype = JitScalarType.from_value(input).dtype()
    if weight is None:
        weight = g.op("Constant", value_t=torch.ones(channels or 0, dtype=dtype))
    if bias is None:
        bias = g.op("Constant", value_t=torch.zeros(channels or 0, dtype=dtype))
    if running_mean is None or running_var is None:
        rank = get_tensor_rank(input) or 0
        others = [axis for axis in range(rank) if axis != 1]
        running_var, running_mean = variance_and_mean(g, input, others, 0, 0)
    return weight, bias, running_mean, running_var


def pool_padding(  # noqa: PLR0917 (as it is called)
    tuple_fn: Callable[[Any], Sequence[int]],
    padding: int | Sequence[int],
    kernel_size: Any,
    stride: Any,
    divisor_override: Any,
    name: str,
) -> tuple[int, ...]:
    """The padding of an average pooling, one number for each axis. Raises OnnxExporterError where
    the divisor is another than the window's size."""
    del kernel_size, stride
    if divisor_override:
        unimplemented(name, "divisor_override")
    return tuple(tuple_fn(padding))


def arange(g: GraphContext, *args: Any) -> Any:
    """torch.arange by the number of its arguments: `end`, `start, end` or `start, end, step`, each
    without and with the four of a new tensor, the type first."""
    bounds = {1: 1, 2: 2, 3: 3, 5: 1, 6: 2, 7: 3}.get(len(args))
    if bounds is None:
        onnx_unsupported(f"aten::arange with {len(args)} arguments")
    dtype = args[bounds] if len(args) > bounds else None
    dtype = maybe_get_const(dtype, "i")
    start, end, step = (0, args[0], 1) if bounds == 1 else (*args[:bounds], 1)[:3]
    if dtype is not None and not isinstance(dtype, int):
        dtype = JitScalarType.from_dtype(dtype)
    _, end, start, step = range_of_type(g, end, start, step, dtype)
    scalars = [squeeze(g, each, [0]) if get_tensor_rank(each) else each
               for each in (start, end, step)]  # fmt: skip
    return g.op("Range", *scalars)


def repeated_parts(g: GraphContext, self: Any, reps: int, dim: int) -> list[Any]:
    """The `reps` elements of an axis, each with that axis."""
    import torch

    ones = g.op("Constant", value_t=torch.ones(reps, dtype=torch.int64))
    parts = g.op("Split", self, ones, axis_i=dim, outputs=reps)
    return [parts] if reps == 1 else list(parts)


def repeated(g: GraphContext, self: Any, repeats: Any, dim: int) -> Any:
    """torch.repeat_interleave by one number, known or a tensor, along an axis."""
    import torch

    rank = get_tensor_rank(self)
    if rank is None:
        unimplemented("repeat_interleave", "missing input shape", self)
    axis = dim + rank if dim < 0 else dim
    if not is_value(repeats):
        repeats = g.op("Constant", value_t=torch.as_tensor(repeats, dtype=torch.int64))
    before = g.op("Constant", value_t=torch.ones(axis + 1, dtype=torch.int64))
    behind = g.op("Constant", value_t=torch.ones(rank - axis - 1, dtype=torch.int64))
    each = g.op("Concat", before, reshape(g, repeats, [1]), behind, axis_i=0)
    tiled = g.op("Tile", unsqueeze(g, self, [axis + 1]), each)
    lengths = g.op("Shape", self)
    joined = g.op(
        "Concat",
        slice_(g, lengths, [0], [0], [axis]),
        g.op("Constant", value_t=torch.tensor([-1])),
        slice_(g, lengths, [0], [axis + 1], [_END]),
        axis_i=0,
    )
    return reshape(g, tiled, joined)


def places_to_fill(g: GraphContext, self: Any, dim: Any, index: Any) -> tuple[Any, Any]:
    """For index_fill: the shape of `self` with as many along an axis as there are places, and the
    places expanded to it."""
    import torch

    rank = get_tensor_rank(self)
    if rank is None:
        unimplemented("index_fill", "input rank not accessible", self)
    axis = parse_arg(dim, "i") % rank
    others = [each for each in range(rank) if each != axis]
    along = g.op("Constant", value_t=torch.tensor([axis]))
    shape = scatter(g, g.op("Shape", self), 0, along, g.op("Shape", index))
    return shape, g.op("Expand", unsqueeze(g, index, others) if others else index, shape)


def embedding_bags(  # noqa: PLR0917 (as it is called)
    g: GraphContext,
    embedding_matrix: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: Any,
    mode: int,
    sparse: Any,
    per_sample_weights: Any,
    include_last_offset: Any,
    padding_idx: Any,
) -> tuple[Any, None, None, None]:
    """torch.nn.functional.embedding_bag of 1-D indices, by sum (0), mean (1) or max (2); an empty
    bag is 0. The other three results of aten::embedding_bag are None. Raises OnnxExporterError
    where a row is padding."""
    import torch

    del scale_grad_by_freq, sparse
    if padding_idx is not None and padding_idx >= 0:
        onnx_unsupported("embedding_bag with padding_idx", indices)
    own = JitScalarType.from_value(embedding_matrix)
    number = {
        value: g.op("Constant", value_t=torch.tensor(value, dtype=own.dtype()))
        for value in (0.0, 1.0, float("-inf"))
    }
    zero, one = (g.op("Constant", value_t=torch.tensor(value)) for value in (0, 1))
    offsets = maybe_cast_to_type(g, offsets, JitScalarType.INT64)
    count = g.op("Shape", indices)
    ends = offsets if include_last_offset else g.op("Concat", offsets, count, axis_i=0)
    first, last = (
        unsqueeze(g, slice_(g, ends, [0], [start], [end]), [1])
        for start, end in ((0, -1), (1, _END))
    )
    places = unsqueeze(g, g.op("Range", zero, squeeze(g, count, [0]), one), [0])
    inside = g.op(
        "And", g.op("Not", g.op("Less", places, first)), g.op("Less", places, last)
    )  # [bags, indices]
    rows = g.op("Gather", embedding_matrix, indices, axis_i=0)
    if per_sample_weights is not None:
        rows = g.op("Mul", rows, unsqueeze(g, per_sample_weights, [1]))
    chosen = unsqueeze(g, inside, [2])
    rows = unsqueeze(g, rows, [0])
    members = reduced(g, "ReduceSum", maybe_cast_to_type(g, inside, own), [1], 1)
    if mode == _MAX:
        most = reduced(g, "ReduceMax", g.op("Where", chosen, rows, number[float("-inf")]), [1], 0)
        bags = g.op("Where", g.op("Cast", members, to_i=_BOOL), most, number[0.0])
        return bags, None, None, None
    bags = reduced(g, "ReduceSum", g.op("Where", chosen, rows, number[0.0]), [1], 0)
    if mode == _MEAN:
        bags = g.op("Div", bags, g.op("Max", members, number[1.0]))
    return bags, None, None, None
