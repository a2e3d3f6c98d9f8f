"""What a report of an export says, whatever form it takes."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING

from sardonyx import _native
from sardonyx._base.errors import Diagnostic, OnnxExporterError

from .module_sizes import ModuleSize, module_sizes
from .steps import Step, Steps

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from sardonyx._compare.differences import VerificationInfo
    from sardonyx._model.program import ONNXProgram

_PACKAGES = ("sardonyx", "torch", "transformers", "onnx", "onnxruntime", "onnx-ir", "numpy")


@dataclass(frozen=True)
class ReportContent:
    """What a report shows. Fields are empty where an export failed before."""

    steps: Sequence[Step]
    messages: Sequence[str]
    error: str
    diagnostics: Sequence[Diagnostic]
    notes: Sequence[Diagnostic]
    unsupported: dict[str, int]  # operators without a translation, and how many calls of each
    decomposed: Sequence[str]
    accuracy: Sequence[VerificationInfo]
    operators: dict[str, int]  # of the model
    opset: int
    sizes: ModuleSize | None
    model: str
    program: str
    profile: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Whether the export as a whole did."""
        return not self.error


def report_content(
    steps: Steps,
    program: ONNXProgram | None,
    captured: ExportedProgram | None,
    error: Exception | None,
    profile: str = "",
) -> ReportContent:
    """Gathers it."""
    diagnostics = error.diagnostics if isinstance(error, OnnxExporterError) else ()
    notes = program.notes if program else ()
    return ReportContent(
        steps=steps.done,
        messages=steps.messages,
        error=str(error) or type(error).__name__ if error is not None else "",
        diagnostics=diagnostics,
        notes=notes,
        unsupported=dict(Counter(d.op for d in diagnostics if d.code == "SX1300" and d.op)),
        decomposed=sorted({d.op for d in notes if d.code == "SX1310" and d.op}),
        accuracy=program.accuracy if program else (),
        operators=_operators(program) if program else {},
        opset=program.opset_version if program else 0,
        sizes=module_sizes(program._model) if program else None,
        model=str(program) if program else "",
        program=str(captured) if captured is not None else "",
        profile=profile,
        environment=_environment(),
    )


def _operators(program: ONNXProgram) -> dict[str, int]:
    nodes = _native.nodes(program._model)
    counted = Counter(f"{domain}::{op}" if domain else op for _, domain, op, _, _, _ in nodes)
    return dict(sorted(counted.items(), key=lambda entry: (-entry[1], entry[0])))


def _environment() -> dict[str, str]:
    found = {"Python": platform.python_version(), "platform": platform.platform()}
    for name in _PACKAGES:
        version = _version(name)
        if version:
            found[name] = version
    return found


def _version(package: str) -> str | None:
    if package == "sardonyx":
        return _native.version
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
