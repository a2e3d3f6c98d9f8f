"""The measured beside what was promised, as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Promise:
    """A figure that every measurement of a part has to keep; for `model` alone if that is set."""

    part: str
    figure: str
    text: str
    kept: Callable[[Any], bool]
    model: str | None = None


PROMISES = (
    Promise("conversion", "times_faster", "≥ 100", lambda v: v >= 100),
    Promise("conversion", "ours_milliseconds", "< 60", lambda v: v < 60, "llama"),
    Promise("conversion", "node_ratio", "≤ 1", lambda v: v <= 1),
    Promise("saving", "share_of_write_speed", "≥ 0.8", lambda v: v >= 0.8),
    Promise("saving", "growth_megabytes", "< 64", lambda v: v < 64),
    Promise("command", "command_megabytes", "< 150", lambda v: v < 150),
    Promise("command", "command_exit_code", "= 0", lambda v: v == 0),
    Promise("latency", "latency_ratio", "≤ 1", lambda v: v <= 1.01),
    Promise("latency", "node_ratio", "≤ 1", lambda v: v <= 1),
    Promise("startup", "import_milliseconds", "< 60", lambda v: v < 60),
    Promise("startup", "imports_torch", "no", lambda v: not v),
)


def judged(part: str, model: str, figures: dict[str, Any]) -> dict[str, bool]:
    return {
        p.figure: bool(p.kept(figures[p.figure]))
        for p in PROMISES
        if p.part == part and p.figure in figures and p.model in (None, model)
    }


def table(results: list[dict[str, Any]]) -> str:
    lines = []
    for result in results:
        part, model = result["part"], result["model"]
        lines.append(f"{part} {model}".rstrip())
        figures = result["figures"]
        kept = judged(part, model, figures)
        width = max(map(len, figures), default=0)
        for name, value in figures.items():
            promised = [
                p.text
                for p in PROMISES
                if (p.part, p.figure) == (part, name) and p.model in (None, model)
            ]
            verdict = (
                f"   {'kept' if kept[name] else 'NOT KEPT'}: {promised[0]}" if promised else ""
            )
            lines.append(f"  {name:{width}}  {_shown(value)}{verdict}")
    return "\n".join(lines)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
