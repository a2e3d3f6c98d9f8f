"""ONNX's numbers of element types, and PyTorch's types for them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


class ElementNumber(int):
    """ONNX's number of an element type, as translators are given it: a TensorProto.DataType."""


# TensorProto.DataType by PyTorch's name.
_NUMBERS = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "uint32": 12,
    "uint64": 13,
    "complex64": 14,
    "complex128": 15,
    "bfloat16": 16,
    "float8_e4m3fn": 17,
    "float8_e4m3fnuz": 18,
    "float8_e5m2": 19,
    "float8_e5m2fnuz": 20,
    "float8_e8m0fnu": 24,
}


@cache
def torch_dtypes() -> dict[int, torch.dtype]:
    """The type of this PyTorch for each of ONNX's numbers that has one."""
    import torch

    return {
        number: getattr(torch, name) for name, number in _NUMBERS.items() if hasattr(torch, name)
    }


def onnx_number(dtype: torch.dtype | int) -> int:
    """ONNX's number of a type, which may be that number already. ValueError where there is none."""
    if isinstance(dtype, int) and not isinstance(dtype, bool):
        if dtype in torch_dtypes():
            return int(dtype)
        raise ValueError(
            f"{dtype} is invalid as an ONNX data type. Valid values are {sorted(torch_dtypes())}"
        )
    name = str(dtype).removeprefix("torch.")
    if name not in _NUMBERS:
        raise ValueError(f"ONNX has no data type for {dtype!r}")
    return _NUMBERS[name]
