"""The report as one page that needs nothing but a browser: no scripts, no files beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from sardonyx._base.errors import Diagnostic

from .content import ReportContent
from .module_sizes import ModuleSize, in_words

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
  color: #222; background: #fff; }
h1 span { border-radius: .3rem; color: #fff; font-size: .7em; padding: .15rem .6rem; }
.good { background: #2e7d32; } .bad { background: #c62828; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .8rem .25rem 0; text-align: left;
  vertical-align: top; }
pre { background: #f6f6f4; font-size: 12px; max-height: 32rem; overflow: auto; padding: .8rem; }
svg text { font: 11px system-ui, sans-serif; pointer-events: none; }
.bar { background: #b5653a; display: inline-block; height: .8rem; }
@media (prefers-color-scheme: dark) {
  body { background: #1b1b1b; color: #ddd; } pre { background: #262626; }
  th, td { border-color: #444; } }
"""
# Sard and onyx, from the outermost module inwards.
_COLOURS = ("#8c3b1f", "#b5653a", "#d08a5c", "#e0ab84", "#ecc9ac", "#f3dfcd")
_WIDTH, _ROW, _LEVELS = 1120.0, 26, 6
_NARROWEST = 1.5  # what would be drawn thinner is left out


def html_report(content: ReportContent) -> str:
    """The whole page."""
    title = "Export to ONNX: " + ("succeeded" if content.succeeded else "failed")
    mark = "good" if content.succeeded else "bad"
    body = "\n".join(_body(content))
    word = "succeeded" if content.succeeded else "failed"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<h1>Export to ONNX <span class="{mark}">{word}</span></h1>\n{body}\n</body>\n</html>\n'
    )


def _body(content: ReportContent) -> Iterator[str]:
    yield from _steps(content)
    yield from _diagnostics("What is wrong", content.diagnostics)
    if content.unsupported:
        yield "<h2>Operators without a translation</h2>"
        yield _table(("operator", "calls"), sorted(content.unsupported.items()))
    if content.decomposed:
        yield "<h2>Operators that PyTorch took apart</h2>"
        yield _table(("operator",), ((name,) for name in content.decomposed))
    yield from _text("Error", content.error)
    yield from _accuracy(content)
    if content.sizes is not None and content.sizes.bytes:
        yield f"<h2>Weights by module: {in_words(content.sizes.bytes)}</h2>"
        yield _picture(content.sizes)
    yield from _diagnostics("Notes", content.notes)
    if content.operators:
        nodes = sum(content.operators.values())
        yield f"<h2>Operators: {nodes} nodes, opset {content.opset}</h2>"
        yield _table(("operator", "nodes"), content.operators.items())
    yield from _text("Model", content.model, folded=True)
    yield from _text("Captured program", content.program, folded=True)
    yield from _text("Profile", content.profile, folded=True)
    yield from _text("What was said on the way", "\n".join(content.said), folded=True)
    yield "<h2>Environment</h2>"
    yield _table(("", "version"), content.environment.items())


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


def _picture(root: ModuleSize) -> str:
    """Modules as bars below the module that they are in, as wide as their weights are large."""
    shapes = "".join(_bars(root, 0.0, _WIDTH, 0))
    height = _ROW * (_deepest(root, _WIDTH, 0) + 1)
    return (
        f'<svg viewBox="0 0 {_WIDTH:.0f} {height}" width="100%" role="img" '
        f'aria-label="Weights by module" xmlns="http://www.w3.org/2000/svg">{shapes}</svg>'
    )


def _bars(module: ModuleSize, left: float, width: float, level: int) -> Iterator[str]:
    if width < _NARROWEST or level > _LEVELS:
        return
    name = module.name or "all weights"
    told = f"{module.path or name}: {in_words(module.bytes)}"
    colour = _COLOURS[min(level, len(_COLOURS) - 1)]
    top = level * _ROW
    yield (
        f'<g><title>{escape(told)}</title><rect x="{left:.1f}" y="{top}" '
        f'width="{max(width - 1, 0.5):.1f}" height="{_ROW - 2}" fill="{colour}"/>'
    )
    if label := _label(name, in_words(module.bytes), width):
        ink = "#fff" if level < 2 else "#222"
        yield f'<text x="{left + 4:.1f}" y="{top + 16}" fill="{ink}">{escape(label)}</text>'
    yield "</g>"
    for child in module.largest():
        share = width * child.bytes / module.bytes if module.bytes else 0.0
        yield from _bars(child, left, share, level + 1)
        left += share


def _label(name: str, size: str, width: float) -> str:
    """What fits: the name with its size, the name, its beginning, or nothing."""
    most = int((width - 8) / 6.5)
    if len(name) + len(size) + 2 <= most:
        return f"{name}, {size}"
    if len(name) <= most:
        return name
    return name[: most - 1] + "…" if most > 2 else ""


def _deepest(module: ModuleSize, width: float, level: int) -> int:
    deepest = level
    for child in module.children.values():
        share = width * child.bytes / module.bytes if module.bytes else 0.0
        if share >= _NARROWEST and level < _LEVELS:
            deepest = max(deepest, _deepest(child, share, level + 1))
    return deepest


def _diagnostics(title: str, diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    if not diagnostics:
        return
    yield f"<h2>{title}</h2>"
    yield _table(
        ("code", "operator", "module", "at", "message"),
        (
            (d.code, d.op, d.module_path, f"{d.file}:{d.line}" if d.file else "", d.message)
            for d in diagnostics
        ),
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["<table><tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"]
    for row in rows:
        cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return "\n".join(lines) + "</table>"


def _text(title: str, text: str, *, folded: bool = False) -> Iterator[str]:
    if not text:
        return
    if folded:
        yield f"<details><summary>{title}</summary><pre>{escape(text)}</pre></details>"
    else:
        yield f"<h2>{title}</h2><pre>{escape(text)}</pre>"
