"""The report of an exported folder as one page that needs nothing but a browser."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from sardonyx._model.visualization import frame
from sardonyx._report.drawing import document, picture, table
from sardonyx._report.module_sizes import in_words

from .report import ExportedPart, Report


def page(report: Report) -> str:
    """The whole of it."""
    name = report.model_class
    return document(f"{name} for ONNX Runtime", escape(name), _body(report))


def _body(report: Report) -> Iterator[str]:
    made_for = (
        ("task", report.task),
        ("precision", report.precision),
        ("runtime", report.runtime),
        ("opset", report.opset),
    )
    yield table(("made for", ""), made_for)
    for part in report.parts:
        yield from _part(part)
    if report.verified:
        yield "<h2>Compared with PyTorch</h2>"
        yield table(("", ""), ((k, _in_words(v)) for k, v in report.verified.items()))
    yield from _speed(report.speed)
    if report.notes:
        yield "<h2>Notes</h2><ul>"
        yield from (f"<li>{escape(note)}</li>" for note in report.notes)
        yield "</ul>"
    yield "<h2>Time</h2>"
    yield table(("step", "seconds"), ((k, f"{v:.3f}") for k, v in report.seconds.items()))


def _part(part: ExportedPart) -> Iterator[str]:
    place = f", {in_words(part.bytes_in_place)} of it in the checkpoint" * bool(part.bytes_in_place)
    size = in_words(part.bytes + part.bytes_in_place)
    yield f"<h2>{escape(part.file)}: {part.nodes} nodes, {size}{place}</h2>"
    values = [("input", part.inputs), ("output", part.outputs)]
    yield table(
        ("", "name", "dims"),
        (
            (kind, name, " × ".join("?" if dim is None else str(dim) for dim in dims) or "a number")
            for kind, named in values
            for name, dims in named.items()
        ),
    )
    if part.modules is not None and part.modules.bytes:
        yield picture(part.modules)
    if part.graph:
        yield f"<details><summary>Graph</summary>{frame(part.graph)}</details>"


def _speed(speed: dict[str, Any]) -> Iterator[str]:
    if not speed:
        return
    yield f"<h2>Speed: {escape(speed['of'])}</h2>"
    seconds = {"PyTorch": speed["pytorch"], "ONNX Runtime": speed["onnxruntime"]}
    longest = max(seconds.values()) or 1.0
    yield "<table>" + "".join(_timed(*each, longest) for each in seconds.items()) + "</table>"


def _timed(name: str, seconds: float, longest: float) -> str:
    bar = f'<span class="bar" style="width:{400 * seconds / longest:.0f}px"></span>'
    return f"<tr><td>{name}</td><td>{seconds * 1e3:.1f} ms</td><td>{bar}</td></tr>"


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_in_words(each)}" for name, each in value.items())
    if isinstance(value, list):
        return "; ".join(str(each) for each in value) or "none"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
