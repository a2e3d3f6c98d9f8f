"""Functions that keep sizes variable while a model is traced, as torch.onnx.operators has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._base.state import is_in_onnx_export

if TYPE_CHECKING:
    from torch import Tensor


def shape_as_tensor(x: Tensor) -> Tensor:
    """The sizes of `x`, an int64 tensor of one dim."""
    import torch

    if _is_exported():
        # torch.export takes sizes for numbers, and cannot capture the operator.
        return torch.stack([torch.scalar_tensor(size, dtype=torch.int64) for size in x.shape])
    return torch._shape_as_tensor(x)


def reshape_from_tensor_shape(x: Tensor, shape: Tensor) -> Tensor:
    """`x` with the sizes that the tensor `shape` holds."""
    import torch

    if _is_exported():
        return x.reshape(shape.tolist())
    return torch._reshape_from_tensor(x, shape)


def _is_exported() -> bool:
    """Whether anything but torch.jit.trace captures the model that is running."""
    import torch

    traced = torch._C._get_tracing_state() is not None
    return torch.compiler.is_exporting() or (is_in_onnx_export() and not traced)


__all__ = ["reshape_from_tensor_shape", "shape_as_tensor"]
