"""A program as a page to look at: in a notebook, in a browser, as a file."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Mapping
from pathlib import Path

from sardonyx import _native

_HEIGHT = 560  # pixels, in a notebook

# Numbers of nodes, by a title such as "time (ms)".
Measures = Mapping[str, Mapping[str, float]]


class Visualization:
    """A page that shows a model. Notebooks show it in place.

    Attributes:
        html: the page, which needs no other file and no network.
    """

    def __init__(self, html: str) -> None:
        self.html = html

    def __repr__(self) -> str:
        return f"Visualization({len(self.html) / 1e3:.0f} kB of HTML)"

    def _repr_html_(self) -> str:
        return frame(self.html)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def show(self) -> Path:
        """Opens the page in the browser. Returns its file, which stays in the temporary folder."""
        with tempfile.NamedTemporaryFile(
            "w", prefix="sardonyx-", suffix=".html", delete=False, encoding="utf-8"
        ) as file:
            file.write(self.html)
        path = Path(file.name)
        webbrowser.open(path.as_uri())
        return path


def visualization(
    model: _native.Model,
    title: str,
    measures: Measures | None,
    other: tuple[_native.Model, str] | None = None,
) -> Visualization:
    """Of a model, or of two side by side."""
    if not isinstance(measures or {}, Mapping):
        raise TypeError('measures is a mapping such as {"time (ms)": {"node": 0.2}}')
    by_title = [_measure(name, nodes) for name, nodes in (measures or {}).items()]
    if other is None:
        return Visualization(_native.viewer_page(model, title, by_title))
    return Visualization(_native.comparison_page(model, title, *other, by_title))


def frame(html: str) -> str:
    """A page within another one, which it can neither read nor change."""
    text = html.replace("&", "&amp;").replace("'", "&#39;")
    return (
        f"<iframe sandbox='allow-scripts allow-downloads' loading='lazy' title='The model' "
        f"style='width: 100%; height: {_HEIGHT}px; border: 1px solid #8886' "
        f"srcdoc='{text}'></iframe>"
    )


def _measure(title: str, nodes: Mapping[str, float]) -> tuple[str, str, dict[str, float]]:
    """The title and the unit of "time (ms)"."""
    if not isinstance(nodes, Mapping):
        raise TypeError(f'measures["{title}"] is a mapping of names of nodes to numbers')
    name, _, unit = title.partition(" (")
    return name, unit.removesuffix(")"), {node: float(value) for node, value in nodes.items()}
