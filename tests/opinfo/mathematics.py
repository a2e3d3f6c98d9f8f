"""Rules for operators whose answer is better known from mathematics than from eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from sardonyx._compare.tolerances import Tolerance, of_operator
from tests.opinfo.compare import values_differ

if TYPE_CHECKING:
    from tests.opinfo.capture import Trial

Tensors = list[torch.Tensor]


def exactly(function: Callable[[Any], Any]) -> Callable[[Trial, Tensors], str | None]:
    """Eager's Bessel functions lose half of float64's digits (J0(-5.42) is off by 2e-7): elements
    that differ from its answer are right where they are the function's value."""

    def rule(trial: Trial, actual: Tensors) -> str | None:
        expected = trial.expected[0].clone()
        if expected.dtype is torch.float64:
            far = ~torch.isclose(actual[0], expected, rtol=1e-9, atol=1e-9, equal_nan=True)
            far &= trial.inputs[0].isfinite() & expected.isfinite()
            values = [float(function(x)) for x in trial.inputs[0][far].tolist()]
            expected[far] = torch.tensor(values, dtype=torch.float64)
        return values_differ(actual[0], expected)

    return rule


def pseudo_inverse(trial: Trial, actual: Tensors) -> str | None:
    """Of a b^T, whose rank is below its sizes: rounding decides what of it counts, and is grown by
    the condition. What makes X the pseudo-inverse of A: A X A = A and X A X = X."""
    a, x = trial.inputs[0] @ trial.inputs[1].mT, actual[0]
    if not a.numel() or not a.any():
        return values_differ(x, trial.expected[0])
    rounding = 4 * torch.finfo(a.dtype).eps * float(a.abs().max() * x.abs().max())
    usual = of_operator(a.dtype).widened(16)
    tolerance = Tolerance(usual.relative, usual.absolute + rounding)
    reason = values_differ(a @ x @ a, a, tolerance, scaled=True)
    if reason is None and x.abs().max() > 2 * trial.expected[0].abs().max():
        reason = f"it is large: {x.abs().max()} for {trial.expected[0].abs().max()}"
    return reason or values_differ(x @ a @ x, x, tolerance.widened(16), scaled=True)


def cholesky_with_info(trial: Trial, actual: Tensors) -> str | None:
    """Where info is not 0 the matrix has no factor, and the one returned says nothing."""
    if reason := values_differ(actual[1], trial.expected[1]):
        return f"info: {reason}"
    factored = trial.expected[1] == 0
    return values_differ(actual[0][factored], trial.expected[0][factored], scaled=True)


def kaiser(trial: Trial, actual: Tensors) -> str | None:
    """Eager's i0 is infinite from e^89 on, and the window inf / inf: finite values stand there."""
    expected = trial.expected[0]
    if expected.is_floating_point():
        between = (actual[0] >= 0) & (actual[0] <= 1)
        expected = torch.where(expected.isnan() & between, actual[0], expected)
    return values_differ(actual[0], expected)
