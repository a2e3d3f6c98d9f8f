"""Writes docs/targets.md from the tables of src/targets, as the native library has them.

tools/generate_targets.py           write the file
tools/generate_targets.py --check   complain when it is not what would be written
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sardonyx import _native

PAGE = Path(__file__).resolve().parent.parent / "docs" / "targets.md"

HEAD = """\
# Where models run

Sardonyx translates and simplifies every program in one form, ONNX of the newest opset, and gives \
it to its target at the end. `target_runtime=` of `sardonyx.export`, `--runtime` of the command \
line and `runtime` of the C++ options name the target. What a target cannot take as it is, is a \
row of a table in `src/targets/`; this page is made of these tables by `tools/generate_targets.py`.

Each row is there because of a fault or a gap of the runtime, and a test of the row's name in \
`tests/targets/` shows it in the runtime alone: when the runtime is mended the test fails, and the \
row can go. Beside the rows, every target gets the forms of the opset it is asked for, and \
composites that came later by their definitions; a target with kernels listed (`src/targets/gen/`) \
also gets casts where an element type has none.

| target | opset | what it gets |
|---|---|---|
"""

REASONS = {
    "lacks": "no kernel",
    "wrong": "wrong result",
    "fails": "fails or crashes",
    "rewrites": "wrong after its own rewriting",
    "slow": "slower",
}


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def opsets(row: dict[str, Any]) -> str:
    first, last = row["first_opset"], row["last_opset"]
    if first == 0 and last is None:
        return "all"
    return f"{first}\u2013" if last is None else f"{first or ''}\u2013{last}"


def lines_of(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| row | operator | types | opsets | reason | what happens | seen in |",
        "|" + "---|" * 7,
    ]
    lines += [
        f"| `{row['name']}` | {row['operator']} | {', '.join(row['types']) or 'all'} "
        f"| {opsets(row)} | {REASONS[row['reason']]} | {cell(row['why'])} | {row['since']} |"
        for row in sorted(rows, key=lambda row: (row["operator"], row["name"]))
    ]
    return lines


FUSIONS = """\
Operators of the runtime's own, each a rule that `--explain` tells of, and how long it takes \
beside what it stands for (`make bench-kernels` measures again):
"""

# What was measured and is slower, so that no rule makes it; on one thread, ONNX Runtime 1.31.
LEFT = """\
Left out, because measured to be slower than what Sardonyx makes otherwise: \
com.microsoft.SkipLayerNormalization (row `sum-that-is-normalised`); \
com.microsoft.SkipSimplifiedLayerNormalization, but for `onnxruntime-genai`; com.microsoft.MoE, \
which takes 0.45 to 0.77 of the time of grouped products for one token, but 1.04 to 1.53 for 16 \
and 128 of 8 to 64 experts (`python -m bench.experts`; its answers are right); \
com.microsoft.QMoE, which takes 0.56 to 0.89 of the time of products in blocks of 4 bits for one \
token, but 0.75 to 1.31 for 16 and 0.88 to 1.29 for 128 (there, too); queries, keys and values as \
one product and a Split, which take 1.03 to 1.10 of the time of three products for 1 to 256 rows \
of 32 to 128 numbers, 1.10 to 1.35 for longer ones (`python -m bench.kernels packed-products`).
"""


def fusions_of(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = [FUSIONS, "| rule | instead of | there is | measured | in |", "|" + "---|" * 5]
    lines += [
        f"| `{row['name']}` | {cell(row['before'])} | {cell(row['after'])} "
        f"| {cell(row['measured'])} | {row['since']} |"
        for row in sorted(rows, key=lambda row: str(row["name"]))
    ]
    return ["", *lines]


def generate(tables: list[dict[str, Any]]) -> str:
    lines = [
        f"| `{t['name']}` | {t['opset']} | {cell(t['about'])} (Source: {cell(t['source'])}.) |"
        for t in tables
    ]
    shown: dict[str, str] = {}
    for target in tables:
        lines += ["", f"## {target['name']}", ""]
        rows = lines_of(target["rules"])
        text = "\n".join(rows)
        if not target["rules"]:
            lines.append("No rows: it gets what the standard says.")
        elif text in shown:
            lines.append(f"The rows of `{shown[text]}`.")
        else:
            lines += rows
            shown[text] = target["name"]
        lines += fusions_of(target["fusions"])
        if target["name"] == "onnxruntime-cpu":
            lines += ["", LEFT.rstrip()]
    return HEAD + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    text = generate(_native.target_tables())
    if "--check" in arguments:
        if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE}: stale; run tools/generate_targets.py", file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
