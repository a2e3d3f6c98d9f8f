"""What becomes of a node model: right, refused, or a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

import sardonyx
from tests.node_models.cases import Case
from tests.node_models.engines import ENGINES, difference, is_random

# Refusals that are an answer: the opset cannot express it.
EXPRESSED_ELSEWHERE = {"SX1504"}


@dataclass(frozen=True)
class Outcome:
    case: str
    runtime: str
    opset: int | None  # None: the model's own
    kind: str  # right, refused, unchecked, wrong, invalid, rejected, unrunnable, crash
    detail: str = ""

    @property
    def is_fault(self) -> bool:
        return self.kind not in ("right", "refused", "unchecked")


class Judge:
    """Compares what `optimize` makes of one model with the model itself."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.model = case.model
        self.answers = {name: run(case.data, case.feeds) for name, run in ENGINES.items()}
        self.is_valid = _violation(self.model) == ""
        self.values = not is_random(self.model)
        # Rounding errors of a Fourier transform are as large as its largest value makes them.
        is_spectrum = any(node.op_type == "DFT" for node in self.model.graph.node)
        self.atol = case.atol + (noise(case.expected) if is_spectrum else 0.0)

    def outcome(self, runtime: str, opset: int | None) -> Outcome:
        kind, detail = self._judged(runtime, opset)
        return Outcome(self.case.name, runtime, opset, kind, detail)

    def _judged(self, runtime: str, opset: int | None) -> tuple[str, str]:
        try:
            made = sardonyx.optimize(self.model, runtime=runtime, opset=opset)[0]
        except sardonyx.ConversionError as error:
            codes = {diagnostic.code for diagnostic in error.diagnostics}
            is_refusal = opset is not None and codes <= EXPRESSED_ELSEWHERE
            return "refused" if is_refusal else "rejected", str(error)
        except Exception as error:
            return "rejected", f"{type(error).__name__}: {error}"
        return self._compared(made, runtime, opset)

    def _compared(self, made: onnx.ModelProto, runtime: str, opset: int | None) -> tuple[str, str]:
        got = next(o.version for o in made.opset_import if not o.domain)
        if got != (opset or self.case.opset):
            return "wrong", f"opset {got}"
        violation = _violation(made) if self.is_valid else ""
        if violation:
            return "invalid", violation
        if changed := _interface_change(self.model, made):
            return "wrong", changed
        must_run = opset is None and runtime != "standard"
        return self._run(made.SerializeToString(), must_run)

    def _run(self, data: bytes, must_run: bool) -> tuple[str, str]:
        differs = ""
        for name, run in ENGINES.items():
            got = run(data, self.case.feeds)
            if got is None:
                if must_run and name == "runtime" and self.answers[name] is not None:
                    return "unrunnable", "ONNX Runtime runs the original alone"
                continue
            found = self._differences(name, got)
            if not found:
                return (
                    ("right", "") if not differs else ("wrong", f"in ONNX Runtime alone: {differs}")
                )
            differs = differs or found
        if differs:
            return "wrong", differs
        ran = [name for name, answer in self.answers.items() if answer is not None]
        return "unchecked", f"run by {' and '.join(ran) or 'none'} before"

    def _differences(self, engine: str, got: list[Any]) -> str:
        """Compared with the same engine's answer, and with that of the onnx package."""
        wanted: list[list[Any]] = [a for a in (self.answers[engine], self.case.expected) if a]
        rtol = self.case.rtol
        found = [difference(got, each, rtol, self.atol, self.values) for each in wanted]
        return found[0] if found and all(found) else ""


def _violation(model: onnx.ModelProto) -> str:
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:
        return str(error)
    return ""


def _interface_change(before: onnx.ModelProto, after: onnx.ModelProto) -> str:
    for kind in ("input", "output"):
        old = [(v.name, v.type.WhichOneof("value")) for v in getattr(before.graph, kind)]
        new = [(v.name, v.type.WhichOneof("value")) for v in getattr(after.graph, kind)]
        if old != new:
            return f"{kind}s {new} instead of {old}"
        for a, b in zip(getattr(before.graph, kind), getattr(after.graph, kind), strict=True):
            if a.type.tensor_type.elem_type != b.type.tensor_type.elem_type:
                return f"the type of {kind} {a.name}"
    return ""


def judged(case: Case, runtimes: Sequence[str], opsets: Sequence[int | None]) -> list[Outcome]:
    judge = Judge(case)
    return [judge.outcome(runtime, opset) for runtime in runtimes for opset in opsets]


def runtime_fault(case: Case) -> str:
    """How ONNX Runtime's answer to the optimized model differs from the onnx package's."""
    judge = Judge(case)
    try:
        made: Any = sardonyx.optimize(judge.model, runtime="onnxruntime")[0]
    except sardonyx.ConversionError:
        return ""
    got = ENGINES["runtime"](made.SerializeToString(), case.feeds)
    if got is None:
        return ""
    wanted = [a for a in (case.expected, judge.answers["reference"]) if a]
    found = [difference(got, a, case.rtol, case.atol + noise(a), judge.values) for a in wanted]
    return found[0] if found and all(found) else ""


def noise(answers: list[Any]) -> float:
    """The last digits of float32 next to the largest number, as sums leave them."""
    arrays = [np.asarray(a) for a in answers if not isinstance(a, list) and a is not None]
    reals = [a.astype(np.float64) for a in arrays if a.dtype.kind == "f" and a.size]
    largest = [float(np.max(np.abs(a), where=np.isfinite(a), initial=0)) for a in reals]
    return 1e-6 * max(largest, default=0.0)
