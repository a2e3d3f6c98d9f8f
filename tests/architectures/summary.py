"""A table of how many, then what failed, by cause."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

from .store import Store


def summarize(store: Store) -> str:
    captured = store.all_recorded("capture")
    compared = store.all_recorded("compare")
    lines = ["captured"]
    lines += _counts(captured)
    lines.append("compared")
    lines += _counts(compared)
    varying = Counter(" and ".join(r["varying"]) or "nothing" for r in captured if "varying" in r)
    lines.append("what varies: " + ", ".join(f"{what} {n}" for what, n in varying.most_common()))
    by_cause: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record in compared:
        if record["status"] != "right":
            for cause in _causes(record):
                by_cause[record["status"], cause].append(record["name"])
    lines.append("")
    for (status, cause), names in sorted(by_cause.items(), key=lambda i: -len(i[1])):
        shown = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
        lines.append(f"{len(names):4} {status}: {cause}\n       {shown}")
    return "\n".join(lines)


def _counts(records: list[dict[str, Any]]) -> list[str]:
    counts = Counter(record["status"] for record in records)
    return [f"  {count:4} {status}" for status, count in counts.most_common()]


def _causes(record: dict[str, Any]) -> list[str]:
    """Diagnostics, one each; or the message with its names and numbers taken out."""
    reason = record["reason"]
    codes = sorted({line.strip() for line in reason.splitlines() if re.search(r"SX\d{4}", line)})
    if codes:
        return sorted({_generalized(line) for line in codes})
    lines = [line for line in reason.splitlines() if line.strip()]
    return [_generalized(lines[0] if lines else "no reason")]


def _generalized(line: str) -> str:
    line = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", lambda m: m[0] if "::" in m[0] else "…", line)
    line = re.sub(r"(?<![\w<])-?\d+(\.\d+)?(e[-+]?\d+)?", "N", line)
    return line[:240]
