"""What is different between two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .tolerances import EXACT, Tolerance, of_model

if TYPE_CHECKING:
    import torch


def difference(
    actual: Any,
    expected: Any,
    tolerance: Tolerance | None = None,
    *,
    check_shape: bool = True,
    check_dtype: bool = True,
    acceptable: float = 0.0,
) -> str | None:
    """How `actual` differs from what PyTorch has, or None: dtype, shape, then values. NaN equals
    NaN, infinities need their sign; a complex tensor is compared with its real and imaginary parts.

    Parameters:
        tolerance: that of whole models where none is given.
        check_shape: False takes shapes that broadcast to each other.
        check_dtype: False takes any element type.
        acceptable: the share of elements that may differ by more.
    """
    import torch

    got: torch.Tensor = torch.as_tensor(actual).detach().cpu()
    want: torch.Tensor = torch.as_tensor(expected).detach().resolve_conj().resolve_neg().cpu()
    if want.is_complex() and not got.is_complex():
        want = torch.view_as_real(want)
    if check_dtype and got.dtype != want.dtype:
        return f"dtype {got.dtype} instead of {want.dtype}"
    size = _common_shape(got, want)
    if size is None or (check_shape and got.shape != want.shape):
        return f"shape {list(got.shape)} instead of {list(want.shape)}"
    if want.numel() == 0 and got.numel() == 0:
        return None
    got, want = got.expand(size), want.expand(size)
    wrong = ~close(got, want, of_model(want.dtype) if tolerance is None else tolerance)
    count = int(wrong.sum())
    return None if count <= acceptable * wrong.numel() else _described(got, want, wrong, count)


def _common_shape(a: torch.Tensor, b: torch.Tensor) -> torch.Size | None:
    """The shape that both broadcast to; None where there is none."""
    import numpy as np
    import torch

    try:
        return torch.Size(np.broadcast_shapes(a.shape, b.shape))
    except ValueError:
        return None


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    import torch

    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def close(got: torch.Tensor, want: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """Which elements count as equal, of tensors of one shape."""
    import torch

    # float64 has not all of int64.
    if tolerance == EXACT and got.dtype == want.dtype and not want.is_floating_point():
        return got == want
    return torch.isclose(
        _wide(got), _wide(want), rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True
    )


def _described(got: torch.Tensor, want: torch.Tensor, wrong: torch.Tensor, count: int) -> str:
    where = tuple(int(i) for i in wrong.nonzero()[0])
    apart = (_wide(got) - _wide(want)).abs()[wrong]
    worst = float(apart.nan_to_num(nan=float("inf")).max())
    return (
        f"values differ: {count} of {wrong.numel()}, by up to {worst:.3g}, "
        f"at {where} {got[where].item()!r} instead of {want[where].item()!r}"
    )
