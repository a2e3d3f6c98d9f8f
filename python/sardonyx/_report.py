"""The Markdown report of an export that went well or did not."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from ._errors import Diagnostic, OnnxExporterError
from ._steps import Steps

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from ._program import ONNXProgram

_PACKAGES = ("sardonyx", "torch", "transformers", "onnx", "onnxruntime", "numpy")


def write_report(
    folder: str | os.PathLike[str],
    steps: Steps,
    *,
    program: ONNXProgram | None,
    captured: ExportedProgram | None,
    error: Exception | None,
) -> Path:
    """Writes `sardonyx_<time>_<success or failure>.md` into `folder` and returns its path."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
    path = target / f"sardonyx_{stamp}_{'failure' if error else 'success'}.md"
    lines = _lines(steps, program, captured, error)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _lines(
    steps: Steps,
    program: ONNXProgram | None,
    captured: ExportedProgram | None,
    error: Exception | None,
) -> Iterator[str]:
    yield "# Export to ONNX: " + ("failed" if error else "succeeded")
    yield ""
    yield "| step | result | time |"
    yield "|---|---|---|"
    for step in steps.done:
        result = "✅" if step.error is None else f"❌ {type(step.error).__name__}"
        yield f"| {step.name} | {result} | {step.seconds * 1e3:.1f} ms |"
    yield ""
    if isinstance(error, OnnxExporterError):
        yield from _diagnostics("What is wrong", error.diagnostics)
    if error is not None:
        yield from _block("Error", str(error))
    if program is not None:
        yield from _diagnostics("Notes", program.notes)
        yield f"The model has {program.node_count} nodes, at opset {program.opset_version}."
        yield ""
        yield from _block("Model", str(program))
    if captured is not None:
        yield from _block("Captured program", str(captured))
    yield from _block("What was said on the way", "\n".join(steps.said))
    yield "## Environment"
    yield ""
    yield f"- Python {platform.python_version()} on {platform.platform()}"
    for name in _PACKAGES:
        version = _version(name)
        if version:
            yield f"- {name} {version}"


def _version(package: str) -> str | None:
    if package == "sardonyx":
        from . import _native

        return _native.version
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _diagnostics(title: str, diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    if not diagnostics:
        return
    yield f"## {title}"
    yield ""
    yield "| code | operator | module | at | message |"
    yield "|---|---|---|---|---|"
    for found in diagnostics:
        place = f"{found.file}:{found.line}" if found.file else ""
        cells = (found.code, found.op, found.module_path, place, found.message)
        yield (
            "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
        )
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _block(title: str, text: str) -> Iterator[str]:
    if not text:
        return
    # A fence longer than any in the text.
    fence = "```"
    while fence in text:
        fence += "`"
    yield f"## {title}"
    yield ""
    yield fence
    yield text
    yield fence
    yield ""
