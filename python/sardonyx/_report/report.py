"""The reports of an export that went well or did not: Markdown, HTML and SARIF."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sardonyx._base.errors import Diagnostic

from .content import ReportContent, report_content
from .html import html_report
from .module_sizes import ModuleSize, in_words
from .sarif import write_sarif
from .steps import Steps

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from sardonyx._model.program import ONNXProgram

_MODULE_LEVELS = 3
_MAX_MODULES = 40


def write_report(
    folder: str | os.PathLike[str],
    steps: Steps,
    *,
    program: ONNXProgram | None,
    captured: ExportedProgram | None,
    error: Exception | None,
    profile: str = "",
) -> Path:
    """Writes `sardonyx_<time>_<success or failure>.md`, .html and .sarif into `folder`.

    Returns the path of the Markdown report.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
    path = target / f"sardonyx_{stamp}_{'failure' if error else 'success'}.md"
    content = report_content(steps, program, captured, error, profile)
    path.write_text("\n".join(_lines(content)) + "\n", encoding="utf-8")
    path.with_suffix(".html").write_text(html_report(content), encoding="utf-8")
    write_sarif(path.with_suffix(".sarif"), [*content.diagnostics, *content.notes])
    return path


def _lines(content: ReportContent) -> Iterator[str]:
    yield "# Export to ONNX: " + ("succeeded" if content.succeeded else "failed")
    yield ""
    yield "| step | result | time |"
    yield "|---|---|---|"
    for step in content.steps:
        result = "✅" if step.error is None else f"❌ {type(step.error).__name__}"
        yield f"| {step.name} | {result} | {step.seconds * 1e3:.1f} ms |"
    yield ""
    yield from _diagnostics("What is wrong", content.diagnostics)
    yield from _unsupported(content)
    yield from _block("Error", content.error)
    yield from _accuracy(content)
    yield from _diagnostics("Notes", content.notes)
    yield from _model(content)
    yield from _block("Captured program", content.program)
    yield from _block("Profile", content.profile)
    yield from _block("What was said on the way", "\n".join(content.messages))
    yield "## Environment"
    yield ""
    for name, version in content.environment.items():
        yield f"- {name} {version}"


def _unsupported(content: ReportContent) -> Iterator[str]:
    if content.unsupported:
        yield "## Operators without a translation"
        yield ""
        for name, count in sorted(content.unsupported.items()):
            yield f"- `{name}`: {count} call{'s' if count > 1 else ''}"
        yield ""
    if content.decomposed:
        yield "## Operators that PyTorch took apart"
        yield ""
        for name in content.decomposed:
            yield f"- `{name}`"
        yield ""


def _accuracy(content: ReportContent) -> Iterator[str]:
    if not content.accuracy:
        return
    yield "## Accuracy"
    yield ""
    yield "| output | largest absolute difference | largest relative difference | type |"
    yield "|---|---|---|---|"
    for info in content.accuracy:
        yield (
            f"| {_cell(info.name)} | {info.max_abs_diff:.3g} | {info.max_rel_diff:.3g} "
            f"| {str(info.actual_dtype).removeprefix('torch.')} |"
        )
    yield ""


def _model(content: ReportContent) -> Iterator[str]:
    if not content.model:
        return
    nodes = sum(content.operators.values())
    yield f"The model has {nodes} nodes, at opset {content.opset}."
    yield ""
    yield "| operator | nodes |"
    yield "|---|---|"
    for name, count in content.operators.items():
        yield f"| {name} | {count} |"
    yield ""
    if content.sizes is not None and content.sizes.bytes:
        yield from _sizes(content.sizes)
    yield from _block("Model", content.model)


def _sizes(root: ModuleSize) -> Iterator[str]:
    yield "## Weights by module"
    yield ""
    yield "| module | size | share |"
    yield "|---|---|---|"
    for i, module in enumerate(root.each(_MODULE_LEVELS)):
        if i == _MAX_MODULES:
            yield "| … | | |"
            break
        share = 100 * module.bytes / root.bytes
        yield f"| {_cell(module.path) or 'all'} | {in_words(module.bytes)} | {share:.1f} % |"
    yield ""


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
        yield "| " + " | ".join(map(_cell, cells)) + " |"
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
