"""Runs a table of cases."""

from __future__ import annotations

import functools
import linecache
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from tests.opinfo import exporter as exporters
from tests.opinfo.capture import capture_module
from tests.opinfo.judge import REFUSED, RIGHT, judge_program
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

    def __str__(self) -> str:
        code = getattr(self.function, "__code__", None)
        if code is None:  # a function of torch itself
            return str(getattr(self.function, "__name__", self.function))
        line = linecache.getline(code.co_filename, code.co_firstlineno).strip()
        text = line.removeprefix("(").removeprefix("lambda ").removesuffix(",")
        return f"{text} {'dynamic' if self.dynamic else 'static'}"


class Call(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


def table(*rows: Row, dynamic: bool = True) -> pytest.MarkDecorator:
    """Parametrises a test over the rows, static and (where a size can change) dynamic."""
    cases = []
    for function, *inputs in rows:
        cases.append(Case(function, tuple(inputs), dynamic=False))
        if dynamic and any(size > 1 for t in inputs for size in t.shape):
            cases.append(Case(function, tuple(inputs), dynamic=True))
    return pytest.mark.parametrize("case", cases, ids=str)


def check(case: Case, rule: Rule = plain, opset: int = 0) -> None:
    module = Call(case.function)
    captured = capture_module(module, list(case.inputs), case.dynamic)
    if captured.status == "unfit" and case.dynamic:
        pytest.skip(captured.reason)
    if captured.status == "uncapturable" and case.dynamic:
        pytest.skip(f"torch.export cannot capture it with dynamic sizes: {captured.reason}")
    assert captured.status == "captured", captured.reason
    outcome = judge_program(str(case), captured, _exporter(), rule, opset)
    if outcome.outcome == REFUSED:
        # A refusal with a reason is allowed; a wrong answer, a crash or a bad model never is.
        pytest.xfail(f"{outcome.code} {outcome.reason}")
    assert outcome.outcome == RIGHT, f"{outcome.outcome} {outcome.code} {outcome.reason}"


@functools.cache
def _exporter() -> exporters.Exporter:
    wanted = os.environ.get("SARDONYX_TEST_EXPORTER", "sardonyx")
    return exporters.load({"torch": "torch.onnx"}.get(wanted, wanted))
