"""Writes the measured figures of docs/data/figures.json into the pages, and draws the charts.

tools/generate_figures.py           write docs/images/*.svg and the blocks of the pages
tools/generate_figures.py --check   exit with 1 when a page or a chart is not what would be written

A page has a table where it says `<!-- figures: NAME -->` and `<!-- end figures -->`; what stands
between the two is replaced. NAME is a key of the data file, or `NAME_chart` for a picture.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "data" / "figures.json"
IMAGES = ROOT / "docs" / "images"
BLOCK = re.compile(r"<!-- figures: (\w+) -->\n.*?<!-- end figures -->", re.DOTALL)
COLORS = ("#d9480f", "#495057", "#adb5bd")
BAR, GAP, LEFT, WIDTH = 18, 14, 150, 720  # pixels

# Charts: the table, what a bar is labeled with, the columns of its group, series and value.
CHARTS = {
    "export": ("export-time", "seconds from a PyTorch module to an ONNX file", "s", (0, 1, 2)),
    "nodes": ("export-nodes", "nodes of the exported model", "", (0, 1, 3)),
    "checkpoint": ("checkpoint-memory", "GB of memory to export a checkpoint", "GB", (0, 1, 3)),
    "optimizers": ("optimize-time", "seconds to optimize a model", "s", (0, 1, 2)),
}


def series(data: dict[str, Any], name: str) -> list[tuple[str, str, float]]:
    """(group, series, value) of every bar of a chart."""
    if name == "optimizers":
        columns = {3: "Sardonyx", 4: "onnxslim", 5: "onnxsim"}
        return [
            (row[0], label, float(row[column].split(", ")[1].removesuffix(" s")))
            for row in data["optimizers_full"]["rows"]
            if row[1] == "Sardonyx"
            for column, label in columns.items()
        ]
    group, label, value = CHARTS[name][3]
    rows = data["export" if name == "nodes" else name]["rows"]
    return [(row[group], row[label], row[value]) for row in rows if _number(row[value])]


def _number(value: Any) -> bool:
    return isinstance(value, (int, float))


def chart(title: str, unit: str, bars: list[tuple[str, str, float]]) -> str:
    """Horizontal bars, those of a group together, on a ground of its own for light and dark."""
    labels = list(dict.fromkeys(label for _, label, _ in bars))
    groups = list(dict.fromkeys(group for group, _, _ in bars))
    most = max(value for *_, value in bars)
    parts, y = [_text(LEFT, 26, title, "start", "600")], 40
    for i, label in enumerate(labels):
        x = LEFT + 150 * i
        parts.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{COLORS[i]}"/>')
        parts.append(_text(x + 18, y + 11, label))
    y += 30
    for group in groups:
        own = [(label, value) for name, label, value in bars if name == group]
        parts.append(_text(LEFT - 10, y + BAR * len(own) // 2 + 5, group, "end"))
        for label, value in own:
            width = max(1, round((WIDTH - LEFT - 90) * value / most))
            color = COLORS[labels.index(label)]
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{width}" height="{BAR - 3}" fill="{color}"/>'
            )
            parts.append(_text(LEFT + width + 6, y + 12, f"{value:g} {unit}".strip()))
            y += BAR
        y += GAP
    return _picture(WIDTH, y, title, parts)


def _text(x: int, y: int, text: str, anchor: str = "start", weight: str = "400") -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="#212529">{html.escape(text)}</text>'
    )


def _picture(width: int, height: int, title: str, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="13">'
    )
    ground = f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{html.escape(title)}</title>", ground, *parts, "</svg>\n"])


def table(entry: dict[str, Any]) -> str:
    """A table of the data file, with what it measures and the command that repeats it."""
    lines = [
        f"{entry['about']} Command: `{entry['command']}`.",
        "",
        "| " + " | ".join(entry["columns"]) + " |",
        "|---" * len(entry["columns"]) + "|",
    ]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in entry["rows"]]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return "-" if value is None else str(value)


def block(data: dict[str, Any], name: str, page: Path) -> str:
    """What stands in a page between the two marks."""
    if name == "machine":
        return f"Machine: {data['machine']}."
    if name.endswith("_chart"):
        file, title, *_ = CHARTS[name.removesuffix("_chart")]
        up = "../" * (len(page.relative_to(ROOT / "docs").parts) - 1) if _in_docs(page) else "docs/"
        return f"![Chart: {title}]({up}images/{file}.svg)"
    return table(data[name])


def _in_docs(page: Path) -> bool:
    return (ROOT / "docs") in page.parents


def outputs() -> Iterator[tuple[Path, str]]:
    """Every file that is written, with its text."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    for name, (file, title, unit, _) in CHARTS.items():
        yield IMAGES / f"{file}.svg", chart(title, unit, series(data, name))
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")

        def filled(match: re.Match[str], page: Path = page) -> str:
            inside = block(data, match[1], page)
            return f"<!-- figures: {match[1]} -->\n{inside}\n<!-- end figures -->"

        if BLOCK.search(text):
            yield page, BLOCK.sub(filled, text)


def main(arguments: list[str]) -> int:
    """Writes, or checks, every output; returns the exit code."""
    stale = [
        (file, text)
        for file, text in outputs()
        if not file.is_file() or file.read_text(encoding="utf-8") != text
    ]
    if arguments == ["--check"]:
        for file, _ in stale:
            print(f"{file}: run tools/generate_figures.py", file=sys.stderr)
        return int(bool(stale))
    for file, text in stale:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
