"""How results of operators are made: dtype, sizes and strides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.symbolic.sizes import Size, Sizes, Strides, broadcast
from sardonyx._torch_private.sizes import is_always_true

from .tensor import QuickTensor


def dims_of(tensor: torch.Tensor) -> Sizes:
    """Its sizes; those of a parameter are numbers."""
    return tensor.dims if type(tensor) is QuickTensor else tuple(tensor.shape)


def steps_of(tensor: torch.Tensor) -> Sizes:
    """Its strides."""
    return tensor.steps if type(tensor) is QuickTensor else tuple(tensor.stride())


class ResultFactory:
    """Makes the tensors that operators return, with their strides."""

    def __init__(self) -> None:
        self.strides = Strides()
        # What tells whether a relation of sizes holds for all of them, where slices are to have
        # the size that they have then; without it, that which they have in the example.
        self.holds: Callable[[Any], bool] | None = None
        self.copies_of_views = 0  # of what needs none in the example

    def dense(self, dims: Sizes, dtype: torch.dtype) -> QuickTensor:
        """In row-major order."""
        return QuickTensor.of(dims, self.strides.contiguous(dims), dtype)

    def pointwise(self, tensors: Sequence[torch.Tensor], dtype: torch.dtype) -> QuickTensor:
        """As broadcasting elementwise operators give it."""
        shapes = [dims_of(tensor) for tensor in tensors]
        dims = broadcast(shapes)
        lie = [(shape, steps_of(each)) for shape, each in zip(shapes, tensors, strict=True)]
        if all(self.strides.is_contiguous(*each) for each in lie):
            return self.dense(dims, dtype)
        if all(len(each[0]) == len(dims) for each in lie) and self.strides.is_one_dense(dims, lie):
            return QuickTensor.of(dims, lie[0][1], dtype)
        operands = [(dims, _spread(*each, len(dims))) for each in lie]
        return QuickTensor.of(dims, self.strides.permuted_as(dims, operands), dtype)


def numbers(sizes: Sequence[Size]) -> list[int]:
    """Those that are no symbols."""
    return [size for size in sizes if type(size) is int]


def _spread(shape: Sizes, steps: Sizes, rank: int) -> Sizes:
    """Strides by which the tensor takes part in a broadcast to `rank` dims."""
    own = [
        0 if type(size) is int and size == 1 else step
        for size, step in zip(shape, steps, strict=True)
    ]
    return tuple([0] * (rank - len(shape)) + own)


def always(condition: Any) -> bool:
    """Whether it is so whatever the sizes are."""
    return condition if type(condition) is bool else is_always_true(condition)


def default_float() -> torch.dtype:
    """The type of floating numbers that PyTorch gives unasked."""
    return torch.get_default_dtype()


def dense_on_cpu(layout: Any, device: Any, pin_memory: Any) -> None:
    """Declines tensors of any other kind."""
    if layout not in (None, torch.strided) or pin_memory:
        raise DeclinedError("a tensor that is not dense")
    if device is not None and torch.device(device).type != "cpu":
        raise DeclinedError(f"the device {device}")
