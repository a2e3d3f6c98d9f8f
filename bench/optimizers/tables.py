"""What was measured, as Markdown."""

from __future__ import annotations

from typing import Any, NamedTuple

from .tools import OF_RUNTIME

_OURS = ("sardonyx", "sardonyx cpu")


class Row(NamedTuple):
    """One optimizer on one model."""

    model: str
    maker: str
    tool: str
    nodes: int | None = None
    loaded: int | None = None  # nodes that ONNX Runtime runs
    seconds: float | None = None
    megabytes: float | None = None
    milliseconds: float | None = None  # to run
    problem: str = ""


def markdown(title: str, rows: list[Row]) -> str:
    lines = [
        f"\n### {title}\n",
        "| optimizer | nodes | once loaded | seconds | MB | answers | processor ms to run |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        # The model before has no entry: all others are compared with it.
        said = row.problem or ("equal" if row.seconds is not None else "")
        cells = [
            _figure(row.nodes),
            _figure(row.loaded),
            _figure(row.seconds),
            _figure(row.megabytes),
            said.replace("|", "\\|"),
            _figure(row.milliseconds),
        ]
        lines.append(f"| {row.tool} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _figure(value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.3g}"


def summary(rows: list[Row]) -> str:
    """Where ours is not the best."""
    told = []
    for model, maker in dict.fromkeys((row.model, row.maker) for row in rows):
        of_it = [row for row in rows if (row.model, row.maker) == (model, maker)]
        for ours in (row for row in of_it if row.tool in _OURS):
            told += [f"- {model} ({maker}), {ours.tool}: {what}" for what in _losses(ours, of_it)]
    return "\n".join(["\n### Where ours is not the best\n", *(told or ["- nowhere"])])


def _losses(ours: Row, rows: list[Row]) -> list[str]:
    if ours.problem:
        return [ours.problem]
    losses = []
    if ours.nodes and ours.loaded and ours.loaded < 0.95 * ours.nodes:
        losses.append(f"{ours.nodes} nodes, of which ONNX Runtime leaves {ours.loaded}")
    may_use_own = ours.tool in OF_RUNTIME
    peers = [
        row
        for row in rows
        if row.tool not in _OURS
        and row.seconds is not None
        and not row.problem
        and (may_use_own or row.tool not in OF_RUNTIME)
    ]
    for peer in peers:
        if peer.nodes is not None and ours.nodes is not None and peer.nodes < ours.nodes:
            losses.append(f"{ours.nodes} nodes, {peer.tool} {peer.nodes}")
        if peer.milliseconds and ours.milliseconds and peer.milliseconds * 1.02 < ours.milliseconds:
            losses.append(f"{ours.milliseconds:.3g} ms, {peer.tool} {peer.milliseconds:.3g}")
        if peer.tool == "onnxslim" and ours.seconds and (peer.seconds or 0) < 50 * ours.seconds:
            losses.append(f"{(peer.seconds or 0) / ours.seconds:.0f} times faster than onnxslim")
    return losses


def node_table(count: int, results: dict[str, dict[str, Any]]) -> str:
    lines = [
        f"\n### {count} node models of the onnx package\n",
        "| optimizer | nodes | seconds | not optimized | other answers |",
        "|---|---|---|---|---|",
    ]
    for tool, result in results.items():
        if "problem" in result:
            lines.append(f"| {tool} | {result['problem']} | | | |")
            continue
        failed, wrong = result["failed"], result["wrong"]
        lines.append(
            f"| {tool} | {result['nodes']} | {result['seconds']:.3g} | {_named(failed)} "
            f"| {_named(wrong)} |"
        )
    ours = results.get("sardonyx", {})
    for name, why in {**ours.get("failed", {}), **ours.get("wrong", {})}.items():
        lines.append(f"\n- sardonyx, {name}: {why}")
    return "\n".join(lines)


def _named(found: dict[str, str]) -> str:
    names = ", ".join(list(found)[:3])
    return f"{len(found)} ({names}{', …' if len(found) > 3 else ''})" if found else "0"
