"""What pages for a browser are drawn with: a style, tables, modules by their weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

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
_COLORS = ("#8c3b1f", "#b5653a", "#d08a5c", "#e0ab84", "#ecc9ac", "#f3dfcd")
_WIDTH, _ROW, _LEVELS = 1120.0, 26, 6
_NARROWEST = 1.5  # what would be drawn thinner is left out


def document(title: str, heading: str, body: Iterable[str]) -> str:
    """A page of its own. `title` is text, `heading` and the parts of `body` are HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{heading}</h1>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A row for each of `rows`, as text."""
    lines = ["<table><tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"]
    for row in rows:
        cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return "\n".join(lines) + "</table>"


def picture(root: ModuleSize) -> str:
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
    title = f"{module.path or name}: {in_words(module.bytes)}"
    color = _COLORS[min(level, len(_COLORS) - 1)]
    top = level * _ROW
    yield (
        f'<g><title>{escape(title)}</title><rect x="{left:.1f}" y="{top}" '
        f'width="{max(width - 1, 0.5):.1f}" height="{_ROW - 2}" fill="{color}"/>'
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
