"""Converts captured programs with the command line and compares the models with the answers."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import torch

from tests.harness.comparison import difference
from tests.harness.runtime import Session

from .store import Store


@dataclass(frozen=True)
class Converter:
    """The command, or, with none, the Python package on the live program."""

    command: Path | None
    limit: float

    def convert(self, program: Path, model: Path) -> str | None:
        """Returns what went wrong."""
        if self.command is None:
            return self._live(program, model)
        try:
            done = subprocess.run(
                [str(self.command), "convert", str(program), "-o", str(model)],
                capture_output=True,
                text=True,
                timeout=self.limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "conversion did not end in time"
        if done.returncode == 0:
            return None
        text = (done.stderr + done.stdout).strip()
        return text or f"exit code {done.returncode} without a word"

    @staticmethod
    def _live(program: Path, model: Path) -> str | None:
        import sardonyx

        try:
            sardonyx.export(torch.export.load(str(program))).save(str(model))
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None


def compare_architecture(name: str, store: Store, converter: Converter) -> None:
    capture = store.recorded("capture", name)
    assert capture is not None
    model = store.model(name)
    model.unlink(missing_ok=True)
    began = time.monotonic()
    problem = converter.convert(store.program(name), model)
    facts: dict[str, Any] = {"seconds": round(time.monotonic() - began, 3)}
    if problem is not None:
        store.record("compare", name, status="not converted", reason=problem[:4000], **facts)
        return
    status, reason = _judged(name, store, capture)
    if model.exists():
        facts["nodes"] = len(onnx.load(model, load_external_data=False).graph.node)
    store.record("compare", name, status=status, reason=reason[:4000], **facts)
    if status == "right":
        model.unlink()


def _judged(name: str, store: Store, capture: dict[str, Any]) -> tuple[str, str]:
    try:
        onnx.checker.check_model(str(store.model(name)), full_check=True)
    except Exception as error:
        return "not valid", str(error)
    try:
        session = Session(store.model(name))
    except Exception as error:
        return "not loaded", str(error)
    for answers, size in zip(torch.load(store.answers(name)), capture["sizes"], strict=True):
        try:
            actual = session.run(answers["inputs"])
        except AssertionError as error:
            return "wrong interface", f"at {size}: {error}"
        except Exception as error:
            return "not run", f"at {size}: {error}"
        if len(actual) < len(answers["outputs"]):
            return "wrong interface", f"{len(actual)} outputs for {len(answers['outputs'])}"
        triples = zip(session.outputs, actual, answers["outputs"], strict=False)
        for output, got, want in triples:
            if (differs := difference(got, want)) is not None:
                excused = capture["notes"] and not differs.startswith(("shape", "dtype"))
                return ("excused" if excused else "wrong"), f"at {size}, {output}: {differs}"
    return "right", ""
