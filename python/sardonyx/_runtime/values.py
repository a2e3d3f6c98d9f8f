"""PyTorch tensors of any dtype as values of ONNX Runtime, and back."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from sardonyx._base.packages import package

if TYPE_CHECKING:
    import torch

# ONNX's numbers of the types that NumPy has no name for, and the unsigned integers they pass as.
_BY_BITS = {
    "bfloat16": ("uint16", 16),
    "float8_e4m3fn": ("uint8", 17),
    "float8_e4m3fnuz": ("uint8", 18),
    "float8_e5m2": ("uint8", 19),
    "float8_e5m2fnuz": ("uint8", 20),
    "float8_e8m0fnu": ("uint8", 24),
}
_OF_RUNTIME = {
    "tensor(bfloat16)": "bfloat16",
    "tensor(float8e4m3fn)": "float8_e4m3fn",
    "tensor(float8e4m3fnuz)": "float8_e4m3fnuz",
    "tensor(float8e5m2)": "float8_e5m2",
    "tensor(float8e5m2fnuz)": "float8_e5m2fnuz",
}
_FLOATS = {"float": "float32", "double": "float64"}


def to_runtime(value: torch.Tensor | float | bool) -> Any:
    """An OrtValue of a tensor (any device and dtype), an int, a float or a bool."""
    import torch

    ort = package("onnxruntime", "running a model")
    tensor = torch.as_tensor(value).detach()
    tensor = tensor.resolve_conj().resolve_neg().cpu()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    tensor = tensor.contiguous()
    name = str(tensor.dtype).removeprefix("torch.")
    if name in _BY_BITS:
        bits, onnx_type = _BY_BITS[name]
        array = tensor.view(getattr(torch, bits)).numpy()
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, onnx_type)
    return ort.OrtValue.ortvalue_from_numpy(tensor.numpy())


def from_runtime(value: Any) -> torch.Tensor:
    """A tensor of an OrtValue's own, without sharing its memory."""
    import torch

    kind = value.data_type()
    name = _OF_RUNTIME.get(kind)
    if name:  # NumPy has no such type: the bytes themselves
        shape, dtype = value.shape(), getattr(torch, name)
        if value.tensor_size_in_bytes() == 0:
            return torch.empty(shape, dtype=dtype)
        content = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
        return torch.frombuffer(bytearray(content), dtype=dtype).reshape(shape)
    array = value.numpy()
    # A uint64 may be C's `unsigned long long`, which torch does not know by that name.
    return torch.from_numpy(array.astype(array.dtype.str))


def dtype_of_runtime(kind: str) -> torch.dtype:
    """The dtype of a type that ONNX Runtime has a name for: "tensor(float)"."""
    import torch

    name = kind.removeprefix("tensor(").removesuffix(")")
    found: torch.dtype = getattr(torch, _OF_RUNTIME.get(kind) or _FLOATS.get(name, name))
    return found
