"""Summaries of results: for the terminal, and the table of docs/operators.md."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from tests.opinfo.catalogue import DTYPES
from tests.opinfo.judge import CRASH, OUTCOMES, REFUSED, RIGHT, TIMEOUT, UNCAPTURABLE, UNFIT, WRONG

Record = dict[str, Any]

NEVER = (WRONG, CRASH, TIMEOUT)


def summary(records: Iterable[Record], shown: int = 25) -> str:
    records = list(records)
    counts = Counter(r["outcome"] for r in records)
    capturable = sum(counts.values()) - counts[UNCAPTURABLE] - counts[UNFIT]
    lines = [f"{len(records)} samples, {capturable} capturable"]
    for outcome in OUTCOMES:
        share = ""
        if capturable and outcome not in (UNCAPTURABLE, UNFIT):
            share = f"{100 * counts[outcome] / capturable:7.2f} % of capturable"
        lines.append(f"  {outcome:16}{counts[outcome]:8}{share}")
    lines += _by_dtype(records)
    lines += _ranking("by reason", records, _reason, shown)
    lines += _ranking("by operator", records, lambda r: f"{r['outcome']:16} {_op(r)}", shown)
    return "\n".join(lines)


def _by_dtype(records: list[Record]) -> list[str]:
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for r in records:
        if r["outcome"] in (UNCAPTURABLE, UNFIT):
            continue
        _, dtype, _, variant, mode = r["key"].split("|")[:5]
        for group in (dtype, mode, variant):
            total[group] += 1
            right[group] += r["outcome"] == RIGHT
    cells = [f"{g} {100 * right[g] / total[g]:.1f} %" for g in sorted(total)]
    return ["right: " + ", ".join(cells)] if cells else []


def _ranking(title: str, records: list[Record], name: Any, shown: int) -> list[str]:
    failed = [r for r in records if r["outcome"] not in (RIGHT, UNCAPTURABLE, UNFIT)]
    counts = Counter(name(r) for r in failed)
    lines = [f"{title}:"] if counts else []
    lines += [f"{count:7}  {text}" for text, count in counts.most_common(shown)]
    if len(counts) > shown:
        lines.append(f"         and {len(counts) - shown} more")
    return lines


def _op(record: Record) -> str:
    return str(record["key"].split("|")[0])


def _reason(record: Record) -> str:
    """Reasons that differ only in numbers and names count together."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"|%\S+", "'…'", str(record.get("reason", "")))
    text = re.sub(r"\w+\[[^\]]*\]", "T[…]", text)
    text = re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "N", text)[:110]
    parts = [record["outcome"], record.get("code", ""), record.get("target", ""), text]
    return " ".join(p for p in parts if p)


_FROM_FILES = (
    "The programs were read from .pt2 files, where PyTorch takes no operator apart: on the live "
    "path operators without a translation are decomposed, and fewer are refused."
)


def markdown(records: Iterable[Record], build: str) -> str:
    """One row an operator: which dtypes are right, and why others are not."""
    by_op: dict[str, list[Record]] = defaultdict(list)
    for r in records:
        by_op[_op(r)].append(r)
    chosen = [r for rs in by_op.values() for r in rs if not _opset(r)]
    counts = Counter(r["outcome"] for r in chosen)
    judged = sum(n for o, n in counts.items() if o not in (UNCAPTURABLE, UNFIT))
    tried = Counter(
        r["key"].split("|")[1] for r in chosen if r["outcome"] not in {UNCAPTURABLE, UNFIT}
    )
    lines = [
        "# Operators",
        "",
        "Which operators are supported, by dtype and opset. `make sweep` writes this page.",
        "",
        (
            f"Build `{build}`: {judged} samples of {len(by_op)} operators of PyTorch's operator "
            "database that torch.export can capture, compared with eager PyTorch in ONNX "
            f"Runtime. {counts[RIGHT]} are right "
            f"({100 * counts[RIGHT] / max(1, judged):.2f} %), {counts[WRONG]} wrong, "
            f"{counts[CRASH] + counts[TIMEOUT]} crash or time out; the others are rejected with a "
            "reason. A dtype is listed as right when every sample tried in it is. Older and newer "
            "opsets are tried on the first sample in float32 and in int64, and listed when both "
            "are right."
        ),
        "",
        "Samples tried by dtype: " + ", ".join(f"{d} {n}" for d, n in tried.most_common()) + ".",
        "",
        *_by_opset([r for rs in by_op.values() for r in rs if _opset(r)]),
        *([_FROM_FILES, ""] if build.startswith(("file-", "command-")) else []),
        "| operator | right in | opsets | samples right | otherwise |",
        "|---|---|---|---|---|",
    ]
    lines += [_row(op, rs) for op, rs in sorted(by_op.items())]
    return "\n".join(lines) + "\n"


def _by_opset(records: list[Record]) -> list[str]:
    judged = [r for r in records if r["outcome"] not in (UNCAPTURABLE, UNFIT)]
    total = Counter(_opset(r) for r in judged)
    right = Counter(_opset(r) for r in judged if r["outcome"] == RIGHT)
    shares = [f"{o} {100 * right[o] / total[o]:.1f} %" for o in sorted(total)]
    return ["Right by opset: " + ", ".join(shares) + ".", ""] if shares else []


def known_right(records: Iterable[Record]) -> list[str]:
    """Operators of which every judged sample is right: a refusal of these is a step back."""
    judged: dict[str, set[str]] = defaultdict(set)
    for r in records:
        if r["outcome"] not in (UNCAPTURABLE, UNFIT) and not _opset(r):
            judged[_op(r)].add(r["outcome"])
    return sorted(op for op, outcomes in judged.items() if outcomes == {RIGHT})


def _row(op: str, records: list[Record]) -> str:
    every = [r for r in records if r["outcome"] not in (UNCAPTURABLE, UNFIT)]
    # Those at a chosen opset have a column of their own. Their wrong answers are reported here too.
    judged = [r for r in every if not _opset(r)]
    right = [r for r in judged if r["outcome"] == RIGHT]
    whole = []
    for dtype in DTYPES:
        of_dtype = [r for r in judged if r["key"].split("|")[1] == dtype]
        if of_dtype and all(r["outcome"] == RIGHT for r in of_dtype):
            whole.append(dtype)
    reasons = Counter(_short(r) for r in judged if r["outcome"] != RIGHT)
    reasons.update(
        f"at opset {_opset(r)} {_short(r)}" for r in every if _opset(r) and r["outcome"] in NEVER
    )
    why = "; ".join(f"{text} ({n})" for text, n in reasons.most_common(2))
    if not judged:
        why = "not captured by torch.export"
    dtypes = "all tried" if whole and len(whole) == _tried(judged) else ", ".join(whole)
    opsets = _spans(_right_opsets(every))
    return f"| `{op}` | {dtypes} | {opsets} | {len(right)}/{len(judged)} | {why} |"


def _opset(record: Record) -> int:
    """0 where the exporter chose."""
    parts = record["key"].split("|")
    return int(parts[5].removeprefix("opset")) if len(parts) > 5 else 0


def _right_opsets(records: list[Record]) -> set[int]:
    """Opsets in which everything is right that was tried in them."""
    tried = {_opset(r) for r in records} - {0}
    return tried - {_opset(r) for r in records if r["outcome"] != RIGHT}


def _tried(records: list[Record]) -> int:
    return len({r["key"].split("|")[1] for r in records})


def _short(record: Record) -> str:
    text = str(record.get("reason", "")).replace("|", "\\|").replace("\n", " ")
    what = record.get("code") if record["outcome"] == REFUSED else record["outcome"]
    return f"{what}: {text[:100]}"


def _spans(numbers: set[int]) -> str:
    """13-18, 23; nothing where none was tried or right."""
    spans: list[list[int]] = []
    for n in sorted(numbers):
        if spans and n == spans[-1][1] + 1:
            spans[-1][1] = n
        else:
            spans.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
