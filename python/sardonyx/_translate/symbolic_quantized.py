"""Quantized tensors as symbolic functions hand them around: a tuple of the integers, their scale
and zero point, and the axis of these where there is one."""

from __future__ import annotations

from typing import Any

from .scalar_types import JitScalarType
from .symbolic_graph import GraphContext, GraphType

_ZERO_POINTS = (JitScalarType.UINT8, JitScalarType.INT8)


def quantize(
    g: GraphContext, tensor: Any, scale: Any, zero_point: Any, axis: int | None = None
) -> Any:
    """The quantized tensor. Zero points of other types than int8 are made uint8."""
    scale = _cast(g, scale, JitScalarType.FLOAT)
    if JitScalarType.from_value(zero_point) not in _ZERO_POINTS:
        zero_point = _cast(g, zero_point, JitScalarType.UINT8)
    held = g.op("QuantizeLinear", tensor, scale, zero_point, **_along(axis))
    return (held, scale, zero_point, *([] if axis is None else [axis]))


def dequantize(g: GraphContext, qtensor: Any, qdtype: Any = None) -> Any:
    """The tensor, its scale, zero point, and the axis of these, which is None where they are of all
    elements. `qdtype` is the number of ONNX's type of the integers, for integers of another."""
    held, scale, zero_point, *axis = qtensor
    if qdtype is not None:
        wanted = GraphType(int(qdtype), None).dtype()
        held = _cast(g, held, JitScalarType.from_dtype(wanted))
        zero_point = _cast(g, zero_point, JitScalarType.from_dtype(wanted))
    scale = _cast(g, scale, JitScalarType.FLOAT)
    at = axis[0] if axis else None
    return g.op("DequantizeLinear", held, scale, zero_point, **_along(at)), scale, zero_point, at


def requantize_bias(
    g: GraphContext, bias: Any, input_scale: Any, weight_scale: Any, axis: int | None = None
) -> Any:
    """A bias as int32 with the scale of the products that it is added to."""
    import torch

    scale = g.op("Mul", weight_scale, input_scale)
    zeros = torch.tensor([0], dtype=torch.int32)
    zero_point = g.op("ConstantOfShape", g.op("Shape", scale), value_t=zeros)
    held = _cast(g, g.op("Round", g.op("Div", bias, scale)), JitScalarType.INT)
    return (held, scale, zero_point, *([] if axis is None else [axis]))


def _along(axis: int | None) -> dict[str, int]:
    return {} if axis is None else {"axis_i": axis}


def _cast(g: GraphContext, value: Any, wanted: JitScalarType) -> Any:
    if JitScalarType.from_value(value) == wanted:
        return value
    return g.op("Cast", value, to_i=wanted.onnx_type())
