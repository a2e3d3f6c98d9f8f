"""Tensors and arrays as constants of the graph that is being built."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from sardonyx._base.element_types import onnx_number


@dataclass(frozen=True)
class Constant:
    """What the native library takes for a tensor: contiguous bytes in row-major order."""

    onnx_dtype: int
    dims: tuple[int, ...]
    data: bytes


def constant_of(value: Any) -> Any:
    """A `Constant` of a torch.Tensor, NumPy array or scalar, or onnx.TensorProto; anything else as
    it is."""
    torch, numpy, onnx = (sys.modules.get(name) for name in ("torch", "numpy", "onnx"))
    if onnx is not None and isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        array = numpy.ascontiguousarray(value)
        return Constant(onnx_number(_named(str(array.dtype))), value.shape, array.tobytes())
    if torch is not None and isinstance(value, torch.Tensor):
        tensor = value.detach().resolve_conj().resolve_neg().cpu().contiguous()
        data = tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        return Constant(onnx_number(tensor.dtype), tuple(tensor.shape), data)
    if torch is not None and isinstance(value, torch.dtype):
        return onnx_number(value)
    return value


def _named(name: str) -> Any:
    import torch

    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"an array of {name} cannot be a constant of the model")
    return dtype


def flattened(result: Any) -> list[Any]:
    """What a translator returned as one list: tuples and lists in it laid out."""
    if isinstance(result, (list, tuple)):
        return [
            item for part in result for item in (flattened(part) if part is not None else [None])
        ]
    held = getattr(result, "native", result)  # what symbolic functions hold
    return [constant_of(held)]
