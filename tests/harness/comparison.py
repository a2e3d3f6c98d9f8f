"""When an answer counts as eager PyTorch's."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Tolerance:
    relative: float
    absolute: float


# Stated once, for whole models; exact for everything that is not listed. Sums run in another
# order in ONNX Runtime, and a model stacks dozens of them.
TOLERANCES: dict[torch.dtype, Tolerance] = {
    torch.float64: Tolerance(1e-7, 1e-8),
    torch.float32: Tolerance(1e-3, 1e-4),
    torch.float16: Tolerance(1e-2, 2e-3),
    torch.bfloat16: Tolerance(5e-2, 2e-2),
}
EXACT = Tolerance(0.0, 0.0)


def difference(
    actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance | None = None
) -> str | None:
    """What differs, or None: dtype, shape, then values. NaN equals NaN, infinities need their sign.

    A complex result is expected as a real one with a trailing dimension of two.
    """
    expected = expected.detach().resolve_conj().resolve_neg()
    if expected.is_complex():
        expected = torch.view_as_real(expected)
    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype} for {expected.dtype}"
    if actual.shape != expected.shape:
        return f"shape {tuple(actual.shape)} for {tuple(expected.shape)}"
    if expected.numel() == 0:
        return None
    limits = tolerance or TOLERANCES.get(expected.dtype, EXACT)
    if not expected.is_floating_point():
        limits = EXACT
    got, want = actual.to(torch.float64), expected.to(torch.float64)
    if not expected.is_floating_point():
        wrong = actual != expected
    else:
        wrong = ~torch.isclose(
            got, want, rtol=limits.relative, atol=limits.absolute, equal_nan=True
        )
    if not wrong.any():
        return None
    where = tuple(int(i) for i in wrong.nonzero()[0])
    worst = (got - want).abs()[wrong].nan_to_num(nan=float("inf")).max().item()
    return (
        f"values: {int(wrong.sum())} of {wrong.numel()} differ by up to {worst:.3g}, "
        f"at {where} {actual[where].item()!r} for {expected[where].item()!r}"
    )
