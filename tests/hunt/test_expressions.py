"""What random expressions of sizes found, and that few seconds of them find nothing."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.hunt import expressions
from tests.hunt.judge import Verdict
from tests.hunt.size_judge import is_fault, judge
from tests.hunt.size_programs import SizeProgram, Statement


def program(text: str, least: int | None) -> SizeProgram:
    """A program of n and m rows."""
    sizes = (Statement("n = a.shape[0]"), Statement("m = b.shape[0]"))
    return SizeProgram((("n",), ("m",)), (*sizes, Statement(f"t = {text}")), ("t",), least)


FINDINGS = {
    "rows that are broadcast where there is one": ("a[:m] * len(a[:m] + b)", None),
    "a quotient by a negative quotient": ("a[(1 // m) // (-1 // n) :]", 0),
    "bits of a quotient of quotients": (
        "a[divmod((divmod((m // 4), min(m, n))[0] & 7), (n + n))[0] :]",
        0,
    ),
    "a mean of rows that may not be there": ("a[:1].sum() / max(max(-1, n), 1)", 0),
    "nothing at all in the example": ("torch.arange(16 * ((m + n) % (n - m)))", 0),
    "a row that hardly any size denies, expanded": (
        "a[: (min(n // 2, 1) % m)].unsqueeze(0).expand(m, -1).flatten()",
        0,
    ),
    "a row by quotients, expanded": (
        "a[: (((n // n) % (m << 1)) ** 2)].unsqueeze(0).expand(m, -1).flatten()",
        None,
    ),
    "at most one column": ("a.unsqueeze(1).expand(n, min(1, m)) + b.sum()", 0),
    "the sign of a difference": ("torch.arange(max(1 - m, 0)) + a.sum()", 0),
    "one row, rolled and stacked": ("torch.stack([a[: min(n, 1)].roll(1, 0)] * 2)", 0),
}


@pytest.mark.parametrize("capture", ["auto", "torch"])
@pytest.mark.parametrize("name", FINDINGS)
def test_findings_are_right_or_reported(name: str, capture: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = judge(program(*FINDINGS[name]), capture=capture)
    assert not is_fault(verdict), verdict


@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_drawn_expressions_have_no_fault(capture: Any) -> None:
    verdicts = [judge(drawn, capture=capture) for drawn in map(expressions.draw, range(20, 32))]
    assert not any(map(is_fault, verdicts)), verdicts
    assert sum(each.kind == "right" for each in verdicts) > len(verdicts) // 2


def test_faults_are_made_smaller() -> None:
    """To the part that shows them: here what a judge of its own calls a fault."""

    def judged(each: SizeProgram) -> Verdict:
        return Verdict("wrong" if "%" in each.statements[-1].text else "right")

    large = program("a + (n * 2 + (m - 3) % max(n, 1))", 0)
    small, verdict = expressions.shrunk(large, Verdict("wrong"), judged)
    assert verdict.kind == "wrong"
    assert len(small.statements[-1].text) < len("t = a + (m - 3) % max(n, 1)")
