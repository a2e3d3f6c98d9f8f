"""What stands for a quantized tensor while a model is captured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from . import rounding
from .names import name_of
from .rounding import Affine
from .rules import UnsupportedError, rule_of


class Quantized:
    """Integers and how to read them, in the place of a torch.Tensor of dtype quint8, qint8 or
    qint32. Functions of torch find it by `__torch_function__`."""

    is_quantized = True
    requires_grad = False

    def __init__(self, integers: torch.Tensor, affine: Affine) -> None:
        self.integers, self.affine = integers, affine
        self.shared = False  # others view its elements, or it views another's

    @staticmethod
    def of(tensor: torch.Tensor) -> Quantized:
        """The stand-in of a real quantized tensor."""
        if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            affine = Affine(tensor.q_scale(), tensor.q_zero_point(), tensor.dtype)
        else:
            scales, zero_points = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
            axis = tensor.q_per_channel_axis()
            affine = Affine(scales.to(torch.float32), zero_points, tensor.dtype, axis)
        return Quantized(tensor.int_repr(), affine)

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return rule_of(name_of(function))(*args, **(kwargs or {}))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(type(self.integers), name):
            raise AttributeError(name)
        return partial(rule_of(name), self)

    def __getitem__(self, index: Any) -> Any:
        return self.moved(self.integers[index])

    def __len__(self) -> int:
        return len(self.integers)

    def __iter__(self) -> Any:
        return iter(self.moved(part) for part in self.integers)

    @property
    def shape(self) -> torch.Size:
        return self.integers.shape

    @property
    def ndim(self) -> int:
        return self.integers.dim()

    @property
    def device(self) -> torch.device:
        return self.integers.device

    @property
    def dtype(self) -> torch.dtype:
        return self.affine.dtype

    @property
    def T(self) -> Any:  # noqa: N802, the name that tensors have
        return self.moved(self.integers.T)

    def copied(self, integers: torch.Tensor) -> Quantized:
        """The same elements in the same places."""
        return Quantized(integers, self.affine)

    def moved(self, integers: Any) -> Any:
        """Some of the same elements in another order, in a tensor or in a sequence of them."""
        if self.affine.axis is not None:
            raise UnsupportedError("elements of a tensor quantized per channel are moved")
        if not isinstance(integers, torch.Tensor):
            return type(integers)(self.moved(part) for part in integers)
        result = self.copied(integers)
        self.shared = result.shared = True
        return result

    def dequantized(self) -> torch.Tensor:
        return rounding.dequantized(self.integers, self.affine)

    def requantized(
        self, x: torch.Tensor, *, scale: Any = None, zero_point: Any = None
    ) -> Quantized:
        """x, float32, as a kernel for this type of integers returns it."""
        affine = self.affine
        if scale is not None:
            affine = Affine(scale, zero_point, affine.dtype)
        return Quantized(rounding.requantized(x, affine), affine)

    def in_steps(
        self,
        function: Callable[[torch.Tensor], torch.Tensor],
        to_integers: Callable[[torch.Tensor, Affine], torch.Tensor] = rounding.from_steps,
    ) -> Quantized:
        """A function that keeps scale and zero point, computed on whole steps."""
        if self.affine.axis is not None:
            raise UnsupportedError("a tensor quantized per channel is computed with")
        steps = function(rounding.in_steps(self.integers, self.affine))
        return Quantized(to_integers(steps, self.affine), self.affine)
