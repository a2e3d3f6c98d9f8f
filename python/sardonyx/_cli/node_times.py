"""Where the time of a run went, from ONNX Runtime's profile."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

_SHOWN = 12


class NodeTime(NamedTuple):
    """The nodes of one operator: their time in one run, in milliseconds, and the slowest."""

    operator: str
    nodes: int
    milliseconds: float
    slowest: str


# The milliseconds of one run, by operator and node.
Times = dict[str, dict[str, float]]


def node_times(profile: Path, runs: int) -> Times:
    """Of a profile over so many runs: medians, so that what else the machine did counts less."""
    found: dict[str, dict[str, list[float]]] = {}
    for event in json.loads(profile.read_text(encoding="utf-8")):
        name = event.get("name", "")
        if event.get("cat") != "Node" or not name.endswith("_kernel_time"):
            continue
        nodes = found.setdefault(event["args"]["op_name"], {})
        nodes.setdefault(name.removesuffix("_kernel_time"), []).append(event["dur"] / 1e3)
    return {
        operator: {name: median(each) * len(each) / runs for name, each in nodes.items()}
        for operator, nodes in found.items()
    }


def by_operator(times: Times) -> list[NodeTime]:
    """What took longest first."""
    found = [
        NodeTime(operator, len(nodes), sum(nodes.values()), max(nodes, key=lambda n: nodes[n]))
        for operator, nodes in times.items()
    ]
    return sorted(found, key=lambda each: -each.milliseconds)


def measure(times: Times) -> dict[str, Any]:
    """As `sardonyx inspect --measures` reads it."""
    nodes = {name: each for nodes in times.values() for name, each in nodes.items()}
    return {"title": "time", "unit": "ms", "nodes": nodes}


def times_text(times: Sequence[NodeTime]) -> str:
    """A bar a line for a terminal."""
    if not times:
        return "no node was run"
    whole = sum(each.milliseconds for each in times) or 1.0
    width = max(len(each.operator) for each in times[:_SHOWN])
    lines = [
        f"  {each.operator:{width}} {each.milliseconds:9.3f} ms {each.milliseconds / whole:4.0%}"
        f" {'█' * round(40 * each.milliseconds / times[0].milliseconds)}"
        f" {each.nodes} {'node' if each.nodes == 1 else 'nodes'}, slowest {each.slowest}"
        for each in times[:_SHOWN]
        if times[0].milliseconds
    ]
    if len(times) > _SHOWN:
        lines.append(f"  and {len(times) - _SHOWN} more operators")
    return "\n".join(lines)


def picture(times: Sequence[NodeTime]) -> str:
    """An SVG with a bar for each operator."""
    longest = max((each.milliseconds for each in times), default=0.0) or 1.0
    rows = []
    for row, each in enumerate(times):
        top = 8 + 22 * row
        rows.append(
            f'<text x="150" y="{top + 13}" text-anchor="end">{escape(each.operator)}</text>'
            f'<rect x="158" y="{top}" width="{360 * each.milliseconds / longest:.1f}" height="16" '
            f'fill="#4c78a8"><title>{escape(each.slowest)} is the slowest</title></rect>'
            f'<text x="{164 + 360 * each.milliseconds / longest:.1f}" y="{top + 13}">'
            f"{each.milliseconds:.3f} ms, {each.nodes}</text>"
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="680" height="{16 + 22 * len(times)}" '
        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
        + "".join(rows)
        + "</svg>\n"
    )
