"""What came of every architecture, as a page of the documentation."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import transformers
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from .checkpoints import foremost_tasks

_HEAD = """# Architectures of Hugging Face

Small models of each architecture of transformers {version}, with random weights, exported with
`sardonyx hf` and compared with PyTorch. `make hf-sweep` repeats it and writes this page (`--page`).

| result | meaning |
|---|---|
| right | the results are eager PyTorch's: 20 greedy tokens for one sequence and for two of \
which one is padded, or all outputs at other sizes than the example's |
| wrong | they are not |
| unsure | they differ, and PyTorch's own results differ as much in float64, with other \
kernels, or for inputs changed by rounding; scores of random weights are nearly equal |
| refused | the export was rejected with the diagnostic in the last column |
| not made | no small model of it runs in eager PyTorch |

```sh
make hf-sweep ARGS="--task text-generation-with-past --models llama,qwen3"
```
"""
_DECODERS = """
## Decoders

With their KV cache, or *without a cache* if transformers has none for them, in ONNX Runtime, and
with `--runtime onnxruntime-genai` in onnxruntime-genai. The latter keeps keys and
values, and two states for each layer. *model builder* marks those that onnxruntime-genai's own
model builder supports.
"""
_OTHERS = """
## All others

With no option but the folder, saved from the class that the architecture is published with: \
{number}
architectures. {left} were not tried. The column *transformers* has the version that a row was made
with, and *earlier* where that is not known. A row stays until its architecture is tried again.
"""
_EARLIER = "earlier"

Records = dict[str, dict[str, Any]]


def write_page(path: Path, cache: Path, decoders: str, others: str) -> None:
    """Writes what the records of `cache` say of the tasks `decoders` and `others`. What the page
    has of decoders stays where there is no record of them, and so do rows of other architectures
    without one."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    _, separator, of_decoders = before.partition(_DECODERS)
    of_decoders, _, of_others = of_decoders.partition("\n## ")
    plain, genai = (_read(cache / name / decoders) for name in ("onnxruntime", "onnxruntime-genai"))
    rest = _read(cache / "onnxruntime" / others)
    lines = [_HEAD.format(version=transformers.__version__), _DECODERS]
    if plain or not separator:
        lines += _of_decoders(plain, genai)
    else:
        lines += of_decoders.strip().splitlines()
    lines += _of_others(rest, _rows(of_others))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _of_decoders(plain: Records, genai: Records) -> list[str]:
    lines = []
    for title, records in (("ONNX Runtime", plain), ("onnxruntime-genai", genai)):
        lines += [f"{title}{_releases(records)}: {_counts(records)}.", ""]
    lines += ["| architecture | ONNX Runtime | onnxruntime-genai | model builder | why |"]
    lines += ["|---|---|---|---|---|"]
    of_builder = _of_builder()
    for name, record in plain.items():
        beside = genai.get(name, {})
        known = "known" if MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(name) in of_builder else ""
        reasons = dict.fromkeys(text for each in (record, beside) if (text := _reason(each)))
        said = beside.get("status", "")
        lines.append(f"| {name} | {record['status']} | {said} | {known} | {'; '.join(reasons)} |")
    return lines


def _of_others(records: Records, kept: Records) -> list[str]:
    """The section with the records, and with the rows of the page that have none."""
    rows = {**kept, **{name: _row(record) for name, record in records.items()}}
    known = foremost_tasks()
    rows = {name: row for name, row in sorted(rows.items()) if name in known}
    lines = [_OTHERS.format(number=len(known), left=len(known) - len(rows))]
    for version in sorted({row["version"] for row in rows.values()}):
        chosen = {name: row for name, row in rows.items() if row["version"] == version}
        lines.append(f"- {version}: {_counts(chosen)}")
    lines += ["", "| architecture | task | result | transformers | why |", "|---|---|---|---|---|"]
    columns = ("task", "status", "version", "why")
    lines += [
        f"| {name} | {' | '.join(row[column] for column in columns)} |"
        for name, row in rows.items()
    ]
    return lines


def _row(record: dict[str, Any]) -> dict[str, str]:
    version = record.get("releases", {}).get("transformers", _EARLIER)
    return {
        "task": record.get("task", ""),
        "status": record["status"],
        "version": version,
        "why": _reason(record),
    }


def _rows(section: str) -> Records:
    """The rows of a section that was written before, also of one without versions."""
    rows: Records = {}
    for line in section.splitlines():
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and name != "architecture" and len(cells) in (3, 4):
            task, status, *more, why = cells
            version = more[0] if more else _EARLIER
            rows[name] = {"task": task, "status": status, "version": version, "why": why}
    return rows


def _of_builder() -> set[str]:
    """The classes that onnxruntime-genai's model builder asks for by name."""
    spec = importlib.util.find_spec("onnxruntime_genai")
    if spec is None or spec.origin is None:
        return set()
    source = Path(spec.origin).parent / "models" / "builder.py"
    return set(re.findall(r'"(\w+For\w+)"', source.read_text(encoding="utf-8")))


def _read(folder: Path) -> Records:
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return {record["name"]: record for record in records}


def _counts(records: Records) -> str:
    counts = Counter(record["status"] for record in records.values())
    return f"{len(records)} architectures: " + ", ".join(
        f"{n} {s}" for s, n in sorted(counts.items())
    )


def _releases(records: Records) -> str:
    """What the records were made with, where they say it: ", with PyTorch 2.15.0 and …"."""
    known = [record["releases"] for record in records.values() if "releases" in record]
    texts = dict.fromkeys(
        f"PyTorch {r['torch']} and transformers {r['transformers']}" for r in known
    )
    return f", with {', '.join(texts)}" if texts else ""


def _reason(record: dict[str, Any]) -> str:
    """The first line, as a cell of a table."""
    lines = [line for line in str(record.get("reason", "")).splitlines() if line.strip()]
    if not lines or record["status"] == "not made":
        return ""
    text = re.sub(r"/\S*/(?=\S)", "", lines[0])
    return text.replace("|", "/")[:160]
