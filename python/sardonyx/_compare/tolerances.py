"""When two tensors count as equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch


class Tolerances(NamedTuple):
    """`acceptable` is the share of elements that may differ by more."""

    relative: float
    absolute: float
    check_shape: bool = True
    check_dtype: bool = True
    acceptable: float = 0.0


def not_close(actual: Any, expected: Any, tolerances: Tolerances) -> str | None:
    """How `actual` differs from what PyTorch has, or None: dtype, shape, then values. NaN equals
    NaN; a complex tensor is compared with its real and imaginary parts."""
    import numpy as np
    import torch

    got: torch.Tensor = torch.as_tensor(actual).detach().cpu()
    want: torch.Tensor = torch.as_tensor(expected).detach().resolve_conj().resolve_neg().cpu()
    if want.is_complex() and not got.is_complex():
        want = torch.view_as_real(want)
    if tolerances.check_dtype and got.dtype != want.dtype:
        return f"dtype {got.dtype} instead of {want.dtype}"
    if tolerances.check_shape and got.shape != want.shape:
        return f"shape {list(got.shape)} instead of {list(want.shape)}"
    if want.numel() == 0 and got.numel() == 0:
        return None
    wide = torch.complex128 if want.is_complex() else torch.float64
    try:
        size = torch.Size(np.broadcast_shapes(got.shape, want.shape))
        got, want = got.to(wide).expand(size), want.to(wide).expand(size)
    except ValueError:
        return f"shape {list(got.shape)} instead of {list(want.shape)}"
    close = torch.isclose(
        got, want, rtol=tolerances.relative, atol=tolerances.absolute, equal_nan=True
    )
    wrong = int((~close).sum())
    if wrong <= tolerances.acceptable * close.numel():
        return None
    worst = float((got - want).abs()[~close].nan_to_num(nan=float("inf")).max())
    return f"{wrong} of {close.numel()} values differ, by up to {worst:.3g}"
