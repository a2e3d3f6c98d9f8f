"""Tables of element types by TorchScript's names and numbers, as symbolic functions look them up:
`g.op("Cast", x, to_i=cast_pytorch_to_onnx["Float"])`."""

from __future__ import annotations

import torch

from sardonyx._base.element_types import onnx_number
from sardonyx._base.enumerators import TensorProtoDataType

from .scalar_types import JitScalarType

_QUANTIZED = {
    JitScalarType.QINT8: TensorProtoDataType.INT8,
    JitScalarType.QUINT8: TensorProtoDataType.UINT8,
    JitScalarType.QINT32: TensorProtoDataType.INT32,
}
# Those that every PyTorch has.
_KNOWN = [each for each in JitScalarType if each <= JitScalarType.BFLOAT16]


def _onnx_type(kind: JitScalarType) -> TensorProtoDataType:
    """ONNX's type; of a quantized one that of its integers."""
    if kind in _QUANTIZED:
        return _QUANTIZED[kind]
    if not kind.onnx_compatible():
        return TensorProtoDataType.UNDEFINED
    return TensorProtoDataType(onnx_number(kind.dtype()))


# By "Float", "Long", ...; by the number of a JitScalarType.
cast_pytorch_to_onnx: dict[str, TensorProtoDataType] = {
    kind.scalar_name(): _onnx_type(kind) for kind in _KNOWN if kind.onnx_compatible()
} | {"Undefined": TensorProtoDataType.UNDEFINED}
scalar_type_to_onnx: list[TensorProtoDataType] = [_onnx_type(kind) for kind in _KNOWN]
scalar_type_to_pytorch_type: list[torch.dtype] = [kind.dtype() for kind in _KNOWN]
pytorch_name_to_type: dict[str, torch.dtype] = {kind.scalar_name(): kind.dtype() for kind in _KNOWN}
# "float" to "Float", "int64_t" to "Long", ...
scalar_name_to_pytorch: dict[str, str] = {kind.torch_name(): kind.scalar_name() for kind in _KNOWN}
