"""Element types as TorchScript numbers and names them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from sardonyx._base.element_types import onnx_number, torch_dtypes
from sardonyx._base.errors import OnnxExporterError

if TYPE_CHECKING:
    import torch


class JitScalarType(enum.IntEnum):
    """Element types under the numbers and names that TorchScript has for them."""

    UINT8 = 0
    INT8 = 1
    INT16 = 2
    INT = 3
    INT64 = 4
    HALF = 5
    FLOAT = 6
    DOUBLE = 7
    COMPLEX32 = 8
    COMPLEX64 = 9
    COMPLEX128 = 10
    BOOL = 11
    QINT8 = 12
    QUINT8 = 13
    QINT32 = 14
    BFLOAT16 = 15
    FLOAT8E5M2 = 16
    FLOAT8E4M3FN = 17
    FLOAT8E5M2FNUZ = 18
    FLOAT8E4M3FNUZ = 19
    UNDEFINED = 20

    @classmethod
    def from_dtype(cls, dtype: torch.dtype | None) -> JitScalarType:
        """Of a torch.dtype. Raises OnnxExporterError for one that has no number here."""
        name = str(dtype).removeprefix("torch.")
        for member, (torch_name, _) in _SCALARS.items():
            if torch_name == name:
                return cls[member]
        raise OnnxExporterError(f"Unknown dtype: {dtype}")

    @classmethod
    def from_onnx_type(cls, onnx_type: int | None) -> JitScalarType:
        """Of ONNX's number of a type."""
        if onnx_type not in torch_dtypes():
            raise OnnxExporterError(f"Unknown onnx_type: {onnx_type}")
        return cls.from_dtype(torch_dtypes()[int(onnx_type)])

    @classmethod
    def from_value(cls, value: Any, default: JitScalarType | None = None) -> JitScalarType:
        """Of a value of the graph or a tensor; `default` where its type is not known."""
        dtype = (
            value.type().dtype()
            if callable(getattr(value, "type", None)) and hasattr(value, "native")
            else getattr(value, "dtype", None)
        )
        if dtype is None:
            if default is not None:
                return default
            raise OnnxExporterError(f"the type of {value!r} is not known")
        return cls.from_dtype(dtype)

    def dtype(self) -> torch.dtype:
        """The torch.dtype."""
        import torch

        dtype: torch.dtype = getattr(torch, _SCALARS[self.name][0])
        return dtype

    def scalar_name(self) -> str:
        """ "Float", "Long", ..."""
        return _SCALARS[self.name][1]

    def torch_name(self) -> str:
        """ "float", "int64_t", ..."""
        return _CPP_NAMES.get(self.name, _SCALARS[self.name][0])

    def onnx_type(self) -> int:
        """ONNX's number of the type."""
        return onnx_number(self.dtype())

    def onnx_compatible(self) -> bool:
        """Whether ONNX has the type."""
        return self.name not in ("COMPLEX32", "QINT8", "QUINT8", "QINT32", "UNDEFINED")


# Name here to torch's name and TorchScript's.
_SCALARS = {
    "UINT8": ("uint8", "Byte"),
    "INT8": ("int8", "Char"),
    "INT16": ("int16", "Short"),
    "INT": ("int32", "Int"),
    "INT64": ("int64", "Long"),
    "HALF": ("float16", "Half"),
    "FLOAT": ("float32", "Float"),
    "DOUBLE": ("float64", "Double"),
    "COMPLEX32": ("complex32", "ComplexHalf"),
    "COMPLEX64": ("complex64", "ComplexFloat"),
    "COMPLEX128": ("complex128", "ComplexDouble"),
    "BOOL": ("bool", "Bool"),
    "QINT8": ("qint8", "QInt8"),
    "QUINT8": ("quint8", "QUInt8"),
    "QINT32": ("qint32", "QInt32"),
    "BFLOAT16": ("bfloat16", "BFloat16"),
    "FLOAT8E5M2": ("float8_e5m2", "Float8_e5m2"),
    "FLOAT8E4M3FN": ("float8_e4m3fn", "Float8_e4m3fn"),
    "FLOAT8E5M2FNUZ": ("float8_e5m2fnuz", "Float8_e5m2fnuz"),
    "FLOAT8E4M3FNUZ": ("float8_e4m3fnuz", "Float8_e4m3fnuz"),
    "UNDEFINED": ("undefined", "Undefined"),
}
_CPP_NAMES = {
    "UINT8": "uint8_t",
    "INT8": "int8_t",
    "INT16": "int16_t",
    "INT": "int",
    "INT64": "int64_t",
    "HALF": "half",
    "FLOAT": "float",
    "DOUBLE": "double",
}
