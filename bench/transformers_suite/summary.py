"""What came of the variants, with each exporter."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

Records = dict[str, dict[str, Any]]
_STATUSES = ("passed", "unsure", "differs", "failed", "not made", "skipped")


def summary(cache: Path) -> str:
    """A table of the variants, those in both exporters compared, and what has not passed."""
    ours, theirs = (_read(cache / exporter) for exporter in ("sardonyx", "onnx"))
    columns = ("exporter", "variants", *_STATUSES, "s, median")
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for exporter, records in (("sardonyx", ours), ("transformers", theirs)):
        for title, listed in (("", False), (" (left out by the tests)", True)):
            chosen = [each for each in records.values() if each["listed"] is listed]
            if chosen:
                lines.append(_row(f"{exporter}{title}", chosen))
    lines += ["", *_compared(ours, theirs), ""]
    lines += [
        f"  {each['status']:9}{each['name']}: {_last_line(each['reason'])}"
        for each in ours.values()
        if each["status"] in ("failed", "differs", "unsure", "not made")
    ]
    return "\n".join(lines)


def _row(title: str, records: list[dict[str, Any]]) -> str:
    counts = Counter(each["status"] for each in records)
    seconds = [each["seconds"] for each in records if each["status"] == "passed"]
    median = f"{statistics.median(seconds):.2f}" if seconds else "-"
    numbers = " | ".join(str(counts[status]) for status in _STATUSES)
    return f"| {title} | {len(records)} | {numbers} | {median} |"


def _compared(ours: Records, theirs: Records) -> list[str]:
    """Of the variants tried with both: those that transformers' own exporter passes."""
    passed = [name for name, each in theirs.items() if each["status"] == "passed" and name in ours]
    both = [name for name in passed if ours[name]["status"] == "passed"]
    seconds = [sum(each[name]["seconds"] for name in both) for each in (ours, theirs)]
    lines = [f"of {len(passed)} variants that transformers' exporter passes, {len(both)} pass here"]
    if both:
        lines.append(f"these take {seconds[0]:.0f} s here, {seconds[1]:.0f} s with transformers'")
    return [*lines, *(f"  not here: {name}" for name in passed if name not in both)]


def _read(folder: Path) -> Records:
    found = (json.loads(path.read_text()) for path in sorted(folder.glob("*.json")))
    return {record["name"]: record for record in found}


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else ""
