"""Shapes of operators' results that torch.export does not know, while a model is captured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from sardonyx._torch_private import operators

if TYPE_CHECKING:
    import torch


@contextmanager
def shapes_of_least_squares() -> Iterator[None]:
    """Within it, torch.linalg.lstsq can be captured, as for matrices of full rank: the driver
    "gelsd" gives no residuals for others."""
    import torch

    with operators.shape_function(torch.ops.aten.linalg_lstsq.default, _least_squares):
        yield


# Fake quantization, whose kernels PyTorch has for processors alone: of those with a mask, and of
# those without, all results are of the input's shape.
_MASKED = (
    "fake_quantize_per_tensor_affine_cachemask",
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
    "fake_quantize_per_channel_affine_cachemask",
)
_LEARNABLE = (
    "_fake_quantize_learnable_per_tensor_affine",
    "_fake_quantize_learnable_per_channel_affine",
)


@contextmanager
def shapes_of_fake_quantization() -> Iterator[None]:
    """Within it, models after quantization-aware training can be captured with dynamic sizes."""
    import torch

    with ExitStack() as stack:
        for names, function in ((_MASKED, _quantized_and_mask), (_LEARNABLE, _quantized)):
            for name in names:
                overload = getattr(torch.ops.aten, name).default
                stack.enter_context(operators.shape_function(overload, function))
        yield


def _quantized_and_mask(
    mode: Any, _operator: Any, x: torch.Tensor, *_: Any, **__: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    import torch

    with mode:
        return torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)


def _quantized(mode: Any, _operator: Any, x: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    import torch

    with mode:
        return torch.empty_like(x)


def _least_squares(
    mode: Any,
    _operator: Any,
    a: torch.Tensor,
    b: torch.Tensor,
    _rcond: float | None = None,
    driver: str | None = None,
) -> tuple[torch.Tensor, ...]:
    import torch

    # a [..., m, n], b [..., m, k] or, with batches, [..., m]
    *batch, rows, columns = a.shape
    vectors = b.dim() == a.dim() - 1
    solution = [*batch, columns] if vectors else [*batch, columns, b.shape[-1]]
    residuals = [*batch, 1 if vectors else b.shape[-1]]
    values = [*batch, torch.sym_min(rows, columns)]
    driver = driver or "gelsy"
    real = a.real.dtype if a.is_complex() else a.dtype
    with mode:
        return (
            b.new_empty(solution),
            a.new_empty(residuals if rows > columns and driver != "gelsy" else [0], dtype=real),
            a.new_empty([0] if driver == "gels" else batch, dtype=torch.int64),
            a.new_empty(values if driver in _SVD else [0], dtype=real),
        )


# The drivers that give singular values.
_SVD = ("gelsd", "gelss")
