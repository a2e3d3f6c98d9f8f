"""What becomes of a program that decides by sizes: exported once, compared at sizes in its range.

A fault is what no error and no warning says: another answer, a model that fails where PyTorch does
not, a dimension that was asked for and is gone.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import onnx
import torch

import sardonyx
from sardonyx._compare.tensors import difference

from .judge import Verdict, _run, _session, _tolerance
from .size_programs import EXAMPLE, SIZES, SizeProgram


def judge(program: SizeProgram, *, capture: Any = "auto") -> Verdict:
    """Exports the program and runs it at all its sizes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = sardonyx.export(
                program.module(),
                program.values(EXAMPLE),
                dynamic_shapes=program.dynamic_shapes(),
                capture=capture,
            )
        except sardonyx.OnnxExporterError as error:
            said = "; ".join(f"{d.code} {d.op}: {d.message}" for d in error.diagnostics)
            is_defect = any(d.code in ("SX1304", "SX1005") for d in error.diagnostics)
            return Verdict("defect" if is_defect else "refused", said[:300])
        except Exception as error:
            return Verdict("crash", f"{type(error).__name__}: {str(error)[:300]}")
    is_warned = any(issubclass(w.category, sardonyx.errors.OnnxExporterWarning) for w in caught)
    verdict = _compared(program, made)
    if verdict.is_fault and is_warned:
        return Verdict("warned", verdict.detail, verdict.runs)
    return verdict


def is_fault(verdict: Verdict) -> bool:
    """Whether neither an error nor a warning reports what is wrong."""
    return verdict.is_fault and verdict.kind != "warned"


def _compared(program: SizeProgram, made: Any) -> Verdict:
    try:
        message = made.model_proto
        onnx.checker.check_model(message, full_check=True)
        session = _session(message)
    except Exception as error:
        return Verdict("not well formed", str(error)[:300])
    runs = 0
    for sizes in SIZES:
        if min(sizes.values()) < (program.least or 0):
            continue
        values = program.values(sizes)
        try:
            with torch.no_grad():
                wanted = program.module()(*values)
        except Exception:
            continue
        if (fixed := _fixed(program, made)) is not None:
            return Verdict("lost", f"{fixed} is a number", runs)
        try:
            feed = dict(zip(made.input_names, values, strict=True))
            got = _run(session, feed)
        except Exception as error:
            return Verdict("fails at run time", f"{sizes}: {str(error)[:300]}", runs)
        verdict = _differs(made, got, wanted)
        if verdict:
            return Verdict("wrong", f"{sizes}: {verdict}", runs)
        runs += 1
    return Verdict("right", runs=runs)


def _differs(made: Any, got: list[torch.Tensor], wanted: Any) -> str | None:
    if len(got) != len(wanted):
        return f"{len(got)} outputs for {len(wanted)}"
    for name, have, want in zip(made.output_names, got, wanted, strict=True):
        found = difference(have, want, _tolerance(want))
        if found is not None:
            return f"{name}: {found}"
    return None


def _fixed(program: SizeProgram, made: Any) -> str | None:
    """A dimension that was to vary, and does not."""
    for (name, _, dims), shape in zip(made._model.inputs, program.shapes, strict=True):
        for axis, (dim, size) in enumerate(zip(dims or (), shape, strict=True)):
            if isinstance(size, str) and isinstance(dim, int):
                return f"{name}.shape[{axis}]"
    return None


def shrunk(program: SizeProgram, verdict: Verdict, **how: Any) -> tuple[SizeProgram, Verdict]:
    """The smallest program found that shows the same kind of fault."""
    tries = 0
    again = True
    while again and tries < 200:
        again = False
        for smaller in program.smaller():
            tries += 1
            try:
                smaller.module()(*smaller.values(EXAMPLE))
            except Exception:
                continue
            found = judge(smaller, **how)
            if found.kind == verdict.kind:
                program, verdict, again = smaller, found, True
                break
    return program, verdict


def signature(program: SizeProgram, verdict: Verdict) -> str:
    """What findings of one cause have in common."""
    text = re.sub(r"\b[abctnr]\d*\b", "_", program.text())
    return f"{verdict.kind}: {re.sub(r'-?[0-9]+', '0', text)}"
