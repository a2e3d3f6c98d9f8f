"""Sizes as a tensor: torch.onnx.operators, for whose functions torch.export has no kernels."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sardonyx._base.state import is_in_onnx_export
from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._torch_private import torchscript

if TYPE_CHECKING:
    from torch import Tensor


def shape_as_tensor(x: Tensor) -> Tensor:
    """The sizes of `x`, an int64 tensor of one dim."""
    import torch

    whole: Tensor
    if not _is_exported():
        whole = torch.ops.aten._shape_as_tensor(x)
    elif x.dim() == 0:
        whole = torch.zeros(0, dtype=torch.int64)
    else:
        # torch.export takes sizes for numbers, and cannot capture the operator.
        whole = torch.stack([torch.scalar_tensor(size, dtype=torch.int64) for size in x.shape])
    return whole


def reshape_from_tensor_shape(x: Tensor, shape: Tensor) -> Tensor:
    """`x` with the sizes that the tensor `shape` holds."""
    import torch

    reshaped: Tensor
    if _is_exported():
        reshaped = x.reshape(shape.tolist())
    else:
        reshaped = torch.ops.aten._reshape_from_tensor(x, shape)
    return reshaped


def _is_exported() -> bool:
    """Whether anything but torch.jit.trace captures the model that is running."""
    import torch

    return torch.compiler.is_exporting() or (is_in_onnx_export() and not torchscript.is_tracing())


_NAMES = {
    "torch": {
        "_shape_as_tensor": shape_as_tensor,
        "_reshape_from_tensor": reshape_from_tensor_shape,
    },
    "torch.onnx.operators": {
        "shape_as_tensor": shape_as_tensor,
        "reshape_from_tensor_shape": reshape_from_tensor_shape,
    },
}


@contextmanager
def shapes_as_tensors() -> Iterator[None]:
    """Within it, torch's own functions are these."""
    stand_ins = [
        Replacement(sys.modules[module], name, function)
        for module, functions in _NAMES.items()
        if module in sys.modules
        for name, function in functions.items()
    ]
    with replaced(stand_ins):
        yield
