"""Runs a table of cases."""

from __future__ import annotations

import functools
import linecache
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch

from tests.harness.rotation import rotating
from tests.opinfo import exporter as exporters
from tests.opinfo.capture import can_vary, capture_module
from tests.opinfo.judge import REFUSED, RIGHT, UNCAPTURABLE, Outcome, judge_program
from tests.opinfo.pool import quiet
from tests.opinfo.rules import Rule, plain
from tests.opinfo.together import Failed, Part, Together

quiet()

# A function of tensors, then the tensors.
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    function: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]
    dynamic: bool
    refusal: str = ""  # how the diagnostic begins, where the program cannot be expressed
    uncapturable: str = ""  # how torch.export's complaint begins, where it cannot capture that
    batch: Batch | None = None  # the cases with which it is captured
    number: int = 0  # among those

    def part(self) -> Part:
        return Part(Call(self.function), self.inputs)

    def __str__(self) -> str:
        code = getattr(self.function, "__code__", None)
        if code is None:  # a function of torch itself
            return str(getattr(self.function, "__name__", self.function))
        line = linecache.getline(code.co_filename, code.co_firstlineno).strip()
        text = line.removeprefix("(").removeprefix("lambda ").removesuffix(",")
        return f"{text} {'dynamic' if self.dynamic else 'static'}"


@dataclass(frozen=True)
class Marked:
    """A row that fails as it should: it fails the test when it is right, or fails otherwise."""

    row: Row
    refusal: str = ""  # of the exporter
    static: bool = False
    dynamic: bool = False
    uncapturable: str = ""  # what torch.export says to it with dynamic sizes


def refused(
    refusal: str, *row: Any, static: bool = True, dynamic: bool = True, uncapturable: str = ""
) -> Marked:
    """`refusal` is how the diagnostic begins, its code first."""
    return Marked(row, refusal, static, dynamic, uncapturable)


def uncapturable(reason: str, *row: Any) -> Marked:
    """A row that some releases of torch.export cannot capture with dynamic sizes; `reason` begins
    what they say. Where one can, the row is to be right."""
    return Marked(row, uncapturable=reason)


class Call(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


# One row of so many, and of these one of so many with fixed sizes where they can vary: `make test`
# and `make test-fast` ask for fewer.
_EVERY = int(os.environ.get("SARDONYX_ROWS_EVERY", "1"))
_FIRST = rotating(_EVERY)
_FIXED_EVERY = int(os.environ.get("SARDONYX_FIXED_EVERY", "1"))


def table(*rows: Row | Marked, dynamic: bool = True) -> pytest.MarkDecorator:
    """Parametrises a test over the rows, static and (where a size can change) dynamic."""
    cases = []
    for place, given in enumerate(rows[_FIRST::_EVERY] or rows[:1]):
        marked = given if isinstance(given, Marked) else Marked(given)
        function, *inputs = marked.row
        varies = dynamic and can_vary(inputs)
        if not varies or isinstance(given, Marked) or place % _FIXED_EVERY == 0:
            refusal = marked.refusal if marked.static else ""
            cases.append(Case(function, tuple(inputs), dynamic=False, refusal=refusal))
        if varies:
            refusal = marked.refusal if marked.dynamic else ""
            cases.append(Case(function, tuple(inputs), True, refusal, marked.uncapturable))
    return pytest.mark.parametrize("case", _in_batches(cases), ids=str)


# More in a program save little; fewer have to be tried alone when one of them fails.
_BATCH = 8


def _in_batches(cases: list[Case]) -> list[Case]:
    """The cases in the same order, those that are not expected to fail captured together."""
    alike: dict[bool, list[int]] = {False: [], True: []}
    for place, case in enumerate(cases):
        if not case.refusal and not case.uncapturable and case.part().fits():
            alike[case.dynamic].append(place)
    for dynamic, places in alike.items():
        for start in range(0, len(places), _BATCH):
            chosen = places[start : start + _BATCH]
            batch = Batch([cases[place].part() for place in chosen], dynamic)
            for number, place in enumerate(chosen):
                cases[place] = replace(cases[place], batch=batch, number=number)
    return cases


class Batch:
    """Cases that are captured together when the first of them is checked."""

    def __init__(self, parts: list[Part], dynamic: bool) -> None:
        self._parts = parts
        self._dynamic = dynamic
        self._right_alone: set[int] = set()

    def difference(self, number: int, rule: Rule, opset: int) -> str:
        """What is wrong with that case's answers; raises Failed where there are none."""
        together = self._together()
        if isinstance(together, Failed):
            raise together
        return together.differences(exporter(), rule, opset)[number]

    @functools.cache  # noqa: B019 - a table lives as long as its module
    def _together(self) -> Together | Failed:
        if len(self._parts) == 1:
            return Failed("alone")
        try:
            return Together(self._parts, self._dynamic)
        except Failed as failed:
            return failed

    def right_alone(self, number: int, failed: Failed) -> str:
        """The failure, once every case of a program that was captured is right without the
        others."""
        self._right_alone.add(number)
        captured = isinstance(self._together(), Together)
        return str(failed) if captured and len(self._right_alone) == len(self._parts) else ""


def check(case: Case, rule: Rule = plain, opset: int = 0) -> None:
    found, failed = "", None
    if case.batch is not None:
        try:
            found = case.batch.difference(case.number, rule, opset)
        except Failed as error:
            failed = error
        if not found and failed is None:
            return
    reason = _complaint(case, _outcome(case, rule, opset))
    assert not reason, reason
    if case.batch is not None and failed is not None:
        found = case.batch.right_alone(case.number, failed)
    assert not found, f"only together with its neighbors: {found}"


def check_together(cases: list[Case]) -> None:
    """Checks static cases that have no row of a table."""
    for case in _in_batches(cases):
        try:
            check(case)
        except AssertionError as error:
            raise AssertionError(f"{case} {case.inputs}: {error}") from error


def _complaint(case: Case, outcome: Outcome) -> str:
    """What is not as it has to be."""
    found = f"{outcome.outcome} {outcome.code} {outcome.reason}"
    wanted = f"{REFUSED} {case.refusal}" if case.refusal else RIGHT
    if case.uncapturable and outcome.outcome != RIGHT:
        wanted = f"{UNCAPTURABLE}  {case.uncapturable}"
    if case.refusal and _WANTED == "trace" and outcome.outcome in (RIGHT, REFUSED):
        return ""  # tracing has reasons of its own, and specializes where torch.export does not
    return "" if found.startswith(wanted) else f"not {wanted!r} but {found!r}"


def _outcome(case: Case, rule: Rule, opset: int) -> Outcome:
    captured = capture_module(Call(case.function), list(case.inputs), case.dynamic)
    if captured.status != "captured":
        return Outcome(str(case), captured.status, reason=captured.reason)
    return judge_program(str(case), captured, exporter(), rule, opset)


# One of tests/opinfo/exporter.py, or "torch" for PyTorch's own.
_WANTED = os.environ.get("SARDONYX_TEST_EXPORTER", "sardonyx")


@functools.cache
def exporter() -> exporters.Exporter:
    return exporters.load({"torch": "torch.onnx"}.get(_WANTED, _WANTED))
