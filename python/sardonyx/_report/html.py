"""The report as one page that needs nothing but a browser: no scripts, no other files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from sardonyx._base.errors import Diagnostic

from .content import ReportContent
from .drawing import document, picture, table
from .module_sizes import in_words


def html_report(content: ReportContent) -> str:
    """The whole page."""
    mark, word = ("good", "succeeded") if content.succeeded else ("bad", "failed")
    heading = f'Export to ONNX <span class="{mark}">{word}</span>'
    return document(f"Export to ONNX: {word}", heading, _body(content))


def _body(content: ReportContent) -> Iterator[str]:
    yield from _steps(content)
    yield from _diagnostics("What is wrong", content.diagnostics)
    if content.unsupported:
        yield "<h2>Operators without a translation</h2>"
        yield table(("operator", "calls"), sorted(content.unsupported.items()))
    if content.decomposed:
        yield "<h2>Operators that PyTorch took apart</h2>"
        yield table(("operator",), ((name,) for name in content.decomposed))
    yield from _text("Error", content.error)
    yield from _accuracy(content)
    if content.sizes is not None and content.sizes.bytes:
        yield f"<h2>Weights by module: {in_words(content.sizes.bytes)}</h2>"
        yield picture(content.sizes)
    yield from _diagnostics("Notes", content.notes)
    if content.operators:
        nodes = sum(content.operators.values())
        yield f"<h2>Operators: {nodes} nodes, opset {content.opset}</h2>"
        yield table(("operator", "nodes"), content.operators.items())
    yield from _text("Model", content.model, folded=True)
    yield from _text("Captured program", content.program, folded=True)
    yield from _text("Profile", content.profile, folded=True)
    yield from _text("What was said on the way", "\n".join(content.messages), folded=True)
    yield "<h2>Environment</h2>"
    yield table(("", "version"), content.environment.items())


def _steps(content: ReportContent) -> Iterator[str]:
    longest = max((step.seconds for step in content.steps), default=0.0) or 1.0
    rows = []
    for step in content.steps:
        failed = "" if step.error is None else escape(type(step.error).__name__)
        bar = f'<span class="bar" style="width:{200 * step.seconds / longest:.0f}px"></span>'
        rows.append(
            f"<tr><td>{escape(step.name)}</td><td>{failed or 'done'}</td>"
            f"<td>{step.seconds * 1e3:.1f} ms</td><td>{bar}</td></tr>"
        )
    yield "<table><tr><th>step</th><th>result</th><th>time</th><th></th></tr>"
    yield "".join(rows) + "</table>"


def _accuracy(content: ReportContent) -> Iterator[str]:
    if not content.accuracy:
        return
    yield "<h2>Accuracy</h2>"
    yield (
        "<table><tr><th>output</th><th>largest absolute difference</th><th></th>"
        "<th>largest relative difference</th><th>type</th></tr>"
    )
    for info in content.accuracy:
        dtype = str(info.actual_dtype).removeprefix("torch.")
        bar = f'<span class="bar" style="width:{_decades(info.max_abs_diff):.0f}px"></span>'
        yield (
            f"<tr><td>{escape(info.name)}</td><td>{info.max_abs_diff:.3g}</td><td>{bar}</td>"
            f"<td>{info.max_rel_diff:.3g}</td><td>{escape(dtype)}</td></tr>"
        )
    yield "</table>"


def _decades(error: float) -> float:
    """The length of an error's bar: 12 pixels a power of ten from 1e-10 on."""
    if error <= 0:
        return 0.0
    return min(max(math.log10(error) + 10, 0.5), 16) * 12 if math.isfinite(error) else 192.0


def _diagnostics(title: str, diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    if not diagnostics:
        return
    yield f"<h2>{title}</h2>"
    yield table(
        ("code", "operator", "module", "at", "message"),
        (
            (d.code, d.op, d.module_path, f"{d.file}:{d.line}" if d.file else "", d.message)
            for d in diagnostics
        ),
    )


def _text(title: str, text: str, *, folded: bool = False) -> Iterator[str]:
    if not text:
        return
    if folded:
        yield f"<details><summary>{title}</summary><pre>{escape(text)}</pre></details>"
    else:
        yield f"<h2>{title}</h2><pre>{escape(text)}</pre>"
