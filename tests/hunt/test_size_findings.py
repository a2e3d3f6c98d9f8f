"""What random programs of sizes found: at 0, 1 and other sizes right, or with a warning."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._capture.meta_tracer.symbolic import size_samples
from tests.hunt.size_judge import is_fault, judge
from tests.hunt.size_programs import EXAMPLE, SizeProgram, Statement, draw


def program(least: int | None, *lines: Statement | str, result: str = "t") -> SizeProgram:
    """A program of one input of (n, m)."""
    made = tuple(each if isinstance(each, Statement) else Statement(each) for each in lines)
    return SizeProgram((("n", "m"),), made, (result,), least)


RIGHT = {
    "a size that max() keeps from 0": program(
        0, "n = 2 // max(a.shape[0], 1)", "t = torch.full((1,), n)"
    ),
    "int() of a bool of sizes": program(
        None, "n = int(a.shape[0] % 2 == 0)", "t = torch.full((1,), n)"
    ),
    "int() of a real multiple of a size": program(
        None, "n = int(a.shape[0] * 0.25)", "t = torch.full((1,), n)"
    ),
    "a size that max() keeps from 0 after an operator has asked the same": program(
        0, "t = a[0:2].sum(0)", "t = a[:: max(t.numel(), 1)]"
    ),
    "max() of a size and a real number": program(0, "t = a * max(a.shape[0], 1.5)"),
    "an amount that is negative for larger sizes": program(
        0, "n = abs(1 - a.numel())", "t = torch.full((1,), n)"
    ),
    "a real number of Python's that 1 changes": program(
        1, "n = int(math.exp(-(1 % a.shape[0]) / 8))", "t = torch.full((1,), n)"
    ),
    "an equality that holds for no rows alone": program(
        0,
        "n = (a.shape[0] - a.numel()) // 3 - 1",
        Statement("if n == 1:", (Statement("t = a * 2"),), (Statement("t = a + 1"),)),
    ),
    "len() of a computed size": program(0, "t = torch.arange(max(len(a) - 3, 0))"),
    "the first of parts that may be one": program(0, "t = a.chunk(2)[0]"),
    "loops of a few lengths": program(
        0, "t = a * 1", Statement("for i in range(len(a) % 3):", (Statement("t = t * 2 + i"),))
    ),
    "a write behind the rows of other sizes": program(
        1, "t = torch.ones(2, a.shape[0]).clone()", "t[a.numel():2] = 1.5"
    ),
    "a slice whose step may be more than all": program(
        0, "n = min(a.shape[0], 9)", "t = a[-2::max(n, 1)]"
    ),
    "a number among others, behind a branch on another size": program(
        None,
        Statement("if a.shape[0] <= 2:", (Statement("a = a * 2"),)),
        "t = torch.zeros(int(a.shape[-1] in (1, 2, 7)), 2)",
    ),
    "as many evenly spaced numbers as rows": program(
        0,
        "t = torch.linspace(0.5, a.shape[0] - 0.5, a.shape[0]) * 2",
        "t = torch.cat([t, torch.linspace(0, 9, len(a) + 1, dtype=torch.int64)])",
    ),
    "a real number of a size that may be none, behind a branch on another size": program(
        0,
        "r = math.log2(min(a.shape[0], 1) + 1)",
        "t = a[: min(a.shape[0], 1)]",
        Statement(
            "if a.shape[1] < 3:",
            (Statement("t = t * r"), Statement("t = t.clone(); t[:] = 1.5")),
            (Statement("t = t.flip(0)"),),
        ),
    ),
    "rows that may be none, without a rule of their own": program(
        0, "t = a[: min(a.shape[0], 1)].roll(1, 0).clone()", "t[:] = 1.5"
    ),
    "rows that may be none, stacked": program(
        0, "t = a[: min(a.shape[0], 1)]", "t = torch.stack([t, t]).clone()", "t[:] = 1.5"
    ),
    "a view of nothing, into parts of a computed size": program(
        0, "t = a.reshape(-1, max(a.shape[0] + 0, 1)) * 2"
    ),
    "divmod": program(0, "q, r = divmod(a.shape[0], 3)", "t = a[:q] * r + divmod(9, q + 1)[0]"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_programs_of_sizes_are_right(name: str) -> None:
    verdict = judge(RIGHT[name])
    assert verdict.kind == "right", verdict.detail
    assert verdict.runs > 6


def test_a_loop_whose_length_is_a_power_of_a_size_ends_in_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By a limit on what is evaluated, whatever machine does so; here a lower one, for speed."""
    monkeypatch.setattr(size_samples, "_MAX_EVALUATED", 50_000)
    long = program(
        0,
        "n = len(a) ** 4 + 2",
        "t = a * 1",
        Statement("while n > 1:", (Statement("t = t * 2"), Statement("n = n - 4"))),
    )
    with pytest.raises(sardonyx.errors.CaptureError, match="declines"):
        sardonyx.export(
            long.module(),
            long.values(EXAMPLE),
            dynamic_shapes=long.dynamic_shapes(),
            capture="quick",
        )


def test_slices_of_computed_sizes_past_their_end_are_warned_of() -> None:
    sliced = program(None, "t = torch.zeros((a.shape[0] + 4) // 5 * 5)", "t = t[:-9]")
    verdict = judge(sliced)
    assert verdict.kind in ("right", "warned"), verdict.detail


def test_parts_that_may_be_fewer_are_warned_of() -> None:
    verdict = judge(program(0, "t = sum(each.sum() for each in a.chunk(2))"))
    assert verdict.kind == "warned", verdict


def test_what_sums_of_numbers_decide_is_sampled() -> None:
    body = (Statement("n = n - 4"),)
    looped = program(2, "n = a.shape[0]", Statement("while n > 2:", body), "t = a + n")
    verdict = judge(looped, capture="quick")
    assert verdict.kind in ("right", "warned", "refused"), verdict.detail


def test_sizes_of_one_name_are_asked_by_either_symbol() -> None:
    line = Statement("n = max(1, a.shape[-1])")
    two = SizeProgram(((2, "n"), (1, "n", 3)), (line,), ("torch.full((1,), n)",), 0)
    verdict = judge(two, capture="quick")
    assert verdict.kind == "right", verdict.detail


def test_a_loop_whose_end_ranges_decide_is_warned_of() -> None:
    body = (Statement("t = t + 1"),)
    looped = program(0, "t = a * 1", Statement("for i in range(min(a.numel(), 2)):", body))
    verdict = judge(looped)
    assert verdict.kind in ("right", "warned"), verdict.detail


def test_code_of_no_file_is_warned_of() -> None:
    space: dict[str, Any] = {"__name__": "__main__"}
    exec("def forward(self, x):\n    return x if x.shape[0] > 4 else x.sum()\n", space)
    typed = type("Typed", (torch.nn.Module,), {"forward": space["forward"]})
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="at least 5"):
        sardonyx.export(typed(), (torch.ones(5, 3),), dynamic_shapes=({0: Dim.AUTO},))


def test_drawn_programs_have_no_fault() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdicts = [
            judge(drawn, capture="quick") for drawn in map(draw, (2, 3, 6)) if drawn.results
        ]
    assert verdicts
    assert not any(map(is_fault, verdicts))
