"""Random numbers whose draws are rejected or counted: means and variances are PyTorch's."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tests.operators.check import Case, check, table
from tests.operators.inputs import scalar

if TYPE_CHECKING:
    from tests.opinfo.capture import Trial

COUNT = 4000


def alike(trial: Trial, actual: list[torch.Tensor]) -> str | None:
    """Means of the columns within six standard errors of each other, deviations nearly so."""
    drawn, expected = actual[0].double(), trial.expected[0].double()
    error = 6 * (2 / len(drawn)) ** 0.5
    deviation = expected.std(0) + 1e-3
    if ((drawn.mean(0) - expected.mean(0)).abs() > error * deviation).any():
        return f"means {drawn.mean(0).tolist()} for {expected.mean(0).tolist()}"
    # Heavy tails make the deviation itself uncertain.
    if ((drawn.std(0) - expected.std(0)).abs() > 0.3 * deviation).any():
        return f"deviations {drawn.std(0).tolist()} for {expected.std(0).tolist()}"
    return None


def rows(*values: float) -> torch.Tensor:
    return torch.tensor(values).expand(COUNT, len(values)).contiguous()


@table(
    (lambda x: torch._standard_gamma(x), rows(0.3, 1.0, 4.5, 80.0)),
    (lambda x: torch._standard_gamma(x), rows(0.7, 2.0).double()),
    (lambda x: torch._sample_dirichlet(x), rows(0.5, 1.0, 6.0)),
    (lambda x: torch.poisson(x), rows(0.0, 0.2, 3.0, 40.0)),
    (lambda n, p: torch.binomial(n, p), rows(1.0, 10.0, 50.0, 9.0), rows(0.3, 0.05, 0.9, 0.0)),
    (lambda n: torch.binomial(n, torch.full_like(n, 0.5)), rows(0.0, 7.0)),
    dynamic=False,
)
def test_distributions(case: Case) -> None:
    check(case, alike)


@table(
    (lambda x: torch.view_as_real(torch.randn_like(x)).flatten(1), rows(0, 0).to(torch.complex64)),
    (
        lambda x: torch.view_as_real(torch.randn(x.shape, dtype=x.dtype)).flatten(1),
        rows(0, 0).to(torch.complex64),
    ),
    (
        lambda x: torch.view_as_real(x.clone().normal_(3, 2)).flatten(1),
        rows(0, 0).to(torch.complex64),
    ),
    (
        lambda x: torch.view_as_real(x.clone().uniform_(1, 2)).flatten(1),
        rows(0, 0).to(torch.complex64),
    ),
    dynamic=False,
)
def test_complex_distributions(case: Case) -> None:
    check(case, alike)


@table((lambda x: torch._standard_gamma(x) > 0, scalar(2.0)))
def test_single_numbers(case: Case) -> None:
    check(case)
