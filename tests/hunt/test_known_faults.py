"""Earlier faults that were found by hand, compared with eager PyTorch as random testing does it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.hunt.judge import judge
from tests.hunt.programs import Program
from tests.hunt.test_findings import program

OF_ROWS: dict[str, tuple[str, tuple[str | int, ...]]] = {"a": ("float32", ("n", "m"))}
SQUARE: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "a": ("float32", ("n", "n")),
    "b": ("bool", ("n",)),
}
IMAGES: dict[str, tuple[str, tuple[str | int, ...]]] = {"a": ("float32", ("n", 4, 6, 5))}

KNOWN = {
    "deviations of numbers that are large beside them": program(
        OF_ROWS, "v1 = a + 1e6", "v2 = v1.std(0)", "v3 = torch.var_mean(v1, 1)[0]"
    ),
    "deviations of few bits": program(
        {"a": ("float16", ("n", "m")), "b": ("bfloat16", ("m",))},
        "v1 = (a * 400).std(1)",
        "v2 = torch.std_mean(b, 0)[0]",
    ),
    "a write where two masks say": program(SQUARE, "v1 = a * 2", "v1[b, b] = 3"),
    "split by a size": program(
        OF_ROWS,
        "v1 = torch.cat([a, a], 1)",
        "v2 = torch.split(v1, a.shape[1], 1)[1]",
        "v3 = torch.split(torch.cat([a, a]), [a.shape[0], a.shape[0]])[0]",
    ),
    "a batch of none": program(
        IMAGES,
        "v1 = torch.nn.functional.avg_pool2d(a, 2)",
        "v2 = torch.nn.functional.adaptive_avg_pool2d(a, 2)",
        "v3 = torch.nn.functional.group_norm(a, 2)",
        "v4 = torch.nn.functional.unfold(a, 2)",
        "v5 = torch.nn.functional.max_pool2d(a, 2)",
    ),
    "a range that is written to a row": program(
        OF_ROWS, "v1 = torch.zeros(4, 6)", "torch.arange(0, 6, out=v1[1])", "v2 = v1 + a.sum()"
    ),
    "signs of zeros": program(
        OF_ROWS,
        "v1 = 1 / torch.trunc(a / 4)",
        "v2 = 1 / torch.div(a, 4, rounding_mode='trunc')",
        "v3 = 1 / torch.floor_divide(a * 0, -3.0)",
        "v4 = 1 / torch.copysign(a * 0, a)",
    ),
    "powers of a row": program(OF_ROWS, "v1 = torch.linalg.vander(a, N=4)"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_faults(name: str) -> None:
    verdict = judge(KNOWN[name], quick=True)
    assert verdict.kind == "right", verdict.detail
    assert verdict.runs > 10


SPECIAL = {
    "resampling beside NaN": program(
        {"a": ("float32", ("n", 2, 5))},
        "v1 = torch.nn.functional.interpolate(a, size=7)",
    ),
    "zeta": program(
        OF_ROWS, "v1 = torch.special.zeta(a, a.abs())", "v2 = torch.special.zeta(a.abs() + 1, a)"
    ),
    "complex functions": program(
        {"a": ("float32", ("n",)), "b": ("float32", ("n",))},
        "v1 = torch.complex(a, b)",
        "v2 = torch.view_as_real(v1.exp())",
        "v3 = torch.view_as_real(v1.sqrt()).abs()",
        "v4 = torch.view_as_real(v1.tanh())",
        "v5 = torch.view_as_real(v1.log())",
    ),
}


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("seed", [5, 6])
def test_known_faults_of_nan_and_infinity(name: str, seed: int) -> None:
    special: Program = replace(SPECIAL[name], special=True, seed=seed)
    verdict = judge(special, quick=True)
    assert verdict.kind == "right", verdict.detail
    assert verdict.runs > 10


LIMITS = {
    "infinity as an integer": program(
        {"a": ("float16", ("n",))},
        "v1 = a / 0",
        "v2 = torch.linalg.vector_norm(torch.add(v1.long(), v1, alpha=-2), 2, -1)",
    ),
    "letters of 1 and of 0": program(
        OF_ROWS,
        "v1 = torch.std(torch.ones_like(a), -1, correction=0, keepdim=True)",
        "v2 = torch.einsum('...i,...i->...', v1, a)",
    ),
}


@pytest.mark.parametrize("name", LIMITS)
def test_documented_limits_are_no_findings(name: str) -> None:
    verdict = judge(LIMITS[name], quick=True)
    assert verdict.kind == "right", verdict.detail
    assert verdict.limits
    assert verdict.runs > 10
