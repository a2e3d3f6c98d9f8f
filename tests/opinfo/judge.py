"""One captured case: converted, run and compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import onnx
import torch

from tests.opinfo.capture import Captured, Trial, answers_in_float32
from tests.opinfo.catalogue import Case
from tests.opinfo.compare import as_expected_type, form_differs
from tests.opinfo.exporter import Exporter, Refused
from tests.opinfo.rules import Rule, may_be_random, rule_for
from tests.opinfo.runtime import InterfaceMismatch, RuntimeRefused, Session

# In the order of the summary. "unfit" samples are refused by eager PyTorch itself.
RIGHT, REFUSED, RUNTIME_REFUSED, WRONG = "right", "refused", "runtime_refused", "wrong"
CRASH, TIMEOUT, UNCAPTURABLE, UNFIT = "crash", "timeout", "uncapturable", "unfit"
OUTCOMES = (RIGHT, REFUSED, RUNTIME_REFUSED, WRONG, CRASH, TIMEOUT, UNCAPTURABLE, UNFIT)


@dataclass
class Outcome:
    key: str
    outcome: str
    code: str = ""
    reason: str = ""
    target: str = ""  # the call that the exporter refused

    def record(self) -> dict[str, Any]:
        return {k: v for k, v in asdict(self).items() if v}


def judge(case: Case, captured: Captured, exporter: Exporter) -> Outcome:
    if captured.status != "captured":
        return Outcome(case.key, captured.status, reason=captured.reason)
    if exporter.needs_program and (reason := captured.unloadable()):
        return Outcome(case.key, UNCAPTURABLE, reason=reason)
    random = may_be_random(case.op) and drops_at_random(captured.exported())
    rule = rule_for(case.op, random)
    return judge_program(case.key, captured, exporter, rule, case.opset)


def judge_program(
    key: str, captured: Captured, exporter: Exporter, rule: Rule, opset: int = 0
) -> Outcome:
    try:
        model = exporter.convert(captured, opset)
    except Refused as refused:
        return Outcome(key, REFUSED, refused.code, refused.reason, refused.op)
    except Exception as error:
        return Outcome(key, CRASH, type(error).__name__, str(error)[:300])
    try:
        check_model(model)
    except Exception as error:  # several classes, of onnx and of protobuf
        return Outcome(key, WRONG, reason=f"onnx.checker: {' '.join(str(error).split())[:300]}")
    try:
        session = Session(model)
        for number, trial in enumerate(captured.trials):
            trial.in_float32 = lambda trial=trial: answers_in_float32(captured.exported(), trial)
            reason = compare(rule, trial, session.run(trial.inputs))
            if reason:
                return Outcome(key, WRONG, reason=("at other sizes: " * number) + reason)
    except RuntimeRefused as refused:
        return Outcome(key, RUNTIME_REFUSED, reason=str(refused))
    except InterfaceMismatch as mismatch:
        return Outcome(key, WRONG, reason=str(mismatch))
    return Outcome(key, RIGHT)


def check_model(model: bytes) -> None:
    onnx.checker.check_model(model, full_check=True)


def compare(rule: Rule, trial: Trial, actual: list[torch.Tensor]) -> str | None:
    """What is wrong with the model's outputs, if anything."""
    expected, numbers = trial.expected, set(trial.scalars)
    if len(actual) == len(expected) - len(numbers):
        # Results that are constant Python numbers need not be outputs of the model.
        expected = [t for i, t in enumerate(expected) if i not in numbers]
        numbers = set()
    # New values of inputs that the program writes to come after its own results.
    actual = actual[: len(expected)]
    if len(actual) != len(expected):
        return f"{len(actual)} outputs for {len(expected)}"
    matched = []
    for position, (a, e) in enumerate(zip(actual, expected, strict=True)):
        number = position in numbers and a.numel() == 1
        value = a.reshape(()).to(e.dtype) if number else a  # Python numbers have no dtype
        if reason := form_differs(value, e):
            return reason
        matched.append(as_expected_type(value, e))
    return rule(Trial(trial.inputs, expected, in_float32=trial.in_float32), matched)


def drops_at_random(program: torch.export.ExportedProgram) -> bool:
    """Whether a call of the program drops elements with a probability above zero."""
    for node in program.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if node.op != "call_function" or schema is None:
            continue
        names = [a.name for a in schema.arguments]
        bound = dict(zip(names, node.args, strict=False)) | dict(node.kwargs)
        train = bound.get("train", True)
        chance = bound.get("dropout_p", bound.get("p", 0.0) if "dropout" in schema.name else 0.0)
        if train and isinstance(chance, float) and chance > 0:
            return True
    return False
