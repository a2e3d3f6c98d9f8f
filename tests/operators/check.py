"""Runs a table of cases."""

from __future__ import annotations

import functools
import itertools
import linecache
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from tests.opinfo import exporter as exporters
from tests.opinfo.capture import capture_module
from tests.opinfo.judge import REFUSED, RIGHT, Outcome, judge_program
from tests.opinfo.pool import quiet
from tests.opinfo.rules import Rule, plain

quiet()

# A function of tensors, then the tensors.
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    function: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]
    dynamic: bool
    refusal: str = ""  # how the diagnostic begins, where the program cannot be expressed

    def __str__(self) -> str:
        code = getattr(self.function, "__code__", None)
        if code is None:  # a function of torch itself
            return str(getattr(self.function, "__name__", self.function))
        line = linecache.getline(code.co_filename, code.co_firstlineno).strip()
        text = line.removeprefix("(").removeprefix("lambda ").removesuffix(",")
        return f"{text} {'dynamic' if self.dynamic else 'static'}"


@dataclass(frozen=True)
class Refused:
    """A row that has to be refused: it fails when it is right, and when it is refused otherwise."""

    refusal: str
    row: Row
    static: bool
    dynamic: bool


def refused(refusal: str, *row: Any, static: bool = True, dynamic: bool = True) -> Refused:
    """`refusal` is how the diagnostic begins, its code first."""
    return Refused(refusal, row, static, dynamic)


class Call(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


# `make test` has half an hour: of every second row it takes the dynamic form alone.
_ALL = os.environ.get("SARDONYX_OPERATOR_ROWS") == "all"


def table(*rows: Row | Refused, dynamic: bool = True) -> pytest.MarkDecorator:
    """Parametrises a test over the rows, static and (where a size can change) dynamic."""
    cases = []
    for place, given in enumerate(rows):
        marked = given if isinstance(given, Refused) else Refused("", given, False, False)
        function, *inputs = marked.row
        refusal = marked.refusal if marked.static else ""
        varies = dynamic and any(size > 1 for t in inputs for size in t.shape)
        if _ALL or refusal or not varies or place % 2 == 0:
            cases.append(Case(function, tuple(inputs), dynamic=False, refusal=refusal))
        if varies:
            refusal = marked.refusal if marked.dynamic else ""
            cases.append(Case(function, tuple(inputs), dynamic=True, refusal=refusal))
    return pytest.mark.parametrize("case", cases, ids=str)


def check(case: Case, rule: Rule = plain, opset: int = 0) -> None:
    reason = _complaint(case, _outcome(case, rule, opset))
    assert not reason, reason


def check_together(cases: list[Case]) -> None:
    """Captures static cases as one program, in a fraction of the time; a refused one stays alone.

    Where the program is not right, each is tried alone, so that the failure names it.
    """
    together = [case for case in cases if not case.refusal]
    ends = list(itertools.accumulate(len(case.inputs) for case in together))

    def function(*tensors: torch.Tensor) -> list[Any]:
        starts = [0, *ends]
        parts = zip(together, starts, ends, strict=False)
        return [case.function(*tensors[start:end]) for case, start, end in parts]

    inputs = tuple(tensor for case in together for tensor in case.inputs)
    outcome = _outcome(Case(function, inputs, dynamic=False), plain, 0)
    fits = outcome.outcome == RIGHT
    alone = [case for case in cases if case.refusal or not fits]
    reasons = [_complaint(case, _outcome(case, plain, 0)) for case in alone]
    named = [f"{case} {case.inputs}: {r}" for case, r in zip(alone, reasons, strict=True) if r]
    assert not named, "\n".join(named)
    assert fits, f"only together: {_complaint(together[0], outcome)}"


def _complaint(case: Case, outcome: Outcome) -> str:
    """What is not as it has to be."""
    found = f"{outcome.outcome} {outcome.code} {outcome.reason}"
    if not case.refusal:
        return "" if outcome.outcome == RIGHT else found
    as_expected = found.startswith(f"{REFUSED} {case.refusal}")
    return "" if as_expected else f"not refused with {case.refusal!r} but {found}"


def _outcome(case: Case, rule: Rule, opset: int) -> Outcome:
    captured = capture_module(Call(case.function), list(case.inputs), case.dynamic)
    if captured.status == "unfit" and case.dynamic:
        pytest.skip(captured.reason)
    if captured.status == "uncapturable" and case.dynamic:
        pytest.skip(f"torch.export cannot capture it with dynamic sizes: {captured.reason}")
    assert captured.status == "captured", captured.reason
    return judge_program(str(case), captured, exporter(), rule, opset)


@functools.cache
def exporter() -> exporters.Exporter:
    wanted = os.environ.get("SARDONYX_TEST_EXPORTER", "sardonyx")
    return exporters.load({"torch": "torch.onnx"}.get(wanted, wanted))
