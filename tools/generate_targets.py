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
# Targets

A target is the runtime that a model is for: `target_runtime=` of `sardonyx.export`, `--runtime` \
of the command line, `runtime` of the C++ options. [Which target do I choose?]\
(how-to/choose-a-target.md) helps to choose; this page lists what each target changes.

Every program is translated and optimized in the canonical IR and lowered to its target at the \
end. Each row of a table works around a fault or a gap of the runtime. A test of the same name in \
`tests/targets/` shows the fault in the runtime alone, so that the row is removed when the fault \
is fixed.

Every target also gets older forms of operators for older opsets, decompositions of composites, \
and casts around dtypes without a kernel, if the kernels are listed (`src/targets/gen/`). \
`tools/generate_targets.py` writes this page from the tables in `src/targets/`.

Models for ONNX Runtime are for every recorded release that loads their opset (`tools/kernels/`): \
up to opset 26 that is 1.31 and newer, from opset 27 on 1.32 and newer. A row that a release has \
fixed isn't used for opsets that only this release and newer ones load. `make targets` tries each \
row again in the installed release.

```sh
sardonyx optimize model.onnx -o model-openvino.onnx --runtime openvino
```

| target | opset | what it gets |
|---|---|---|
"""

REASONS = {
    "lacks": "no kernel",
    "wrong": "wrong result",
    "fails": "fails or crashes",
    "rewrites": "wrong after its own optimization",
    "slow": "slower",
}


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def opsets(row: dict[str, Any]) -> str:
    first, last = row["first_opset"], row["last_opset"]
    if first == 0 and last is None:
        return "all"
    return f"{first}\u2013" if last is None else f"{first or ''}\u2013{last}"


def releases(row: dict[str, Any]) -> str:
    """In which the fault was seen, and which is the first one without it."""
    return f"{row['since']}, fixed in {row['until']}" if row["until"] else str(row["since"])


def lines_of(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| row | operator | types | opsets | reason | what happens | seen in |",
        "|" + "---|" * 7,
    ]
    lines += [
        f"| `{row['name']}` | {row['operator']} | {', '.join(row['types']) or 'all'} "
        f"| {opsets(row)} | {REASONS[row['reason']]} | {cell(row['why'])} | {releases(row)} |"
        for row in sorted(rows, key=lambda row: (row["operator"], row["name"]))
    ]
    return lines


FUSIONS = """\
Contrib operators, each a rule that `--explain` lists, and its time as a fraction of the time of \
what it replaces (`make bench-kernels` measures again):
"""

# What was measured and is slower, so that no rule makes it; on one thread, ONNX Runtime 1.31.
LEFT = """\
These operators and rewrites are not used, because they were measured to be slower:

- com.microsoft.SkipLayerNormalization, see the row `normalized-sum`.
- com.microsoft.SkipSimplifiedLayerNormalization, except for `onnxruntime-genai`.
- com.microsoft.MoE: 0.45 to 0.77 of the time of grouped MatMuls for one token, but 1.04 to 1.53 \
for 16 and 128 tokens with 8 to 64 experts (`python -m bench.experts`).
- com.microsoft.QMoE: 0.56 to 0.89 of the time of block-wise quantized MatMuls for one token, but \
0.75 to 1.31 for 16 and 0.88 to 1.29 for 128 tokens (`python -m bench.experts`).
- Query, key and value as one MatMul and a Split: 1.03 to 1.10 of the time of three MatMuls for 1 \
to 256 rows of 32 to 128 features, 1.10 to 1.35 for longer rows (`python -m bench.kernels \
packed-products`).
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
            lines.append("No rows: it gets standard ONNX.")
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
