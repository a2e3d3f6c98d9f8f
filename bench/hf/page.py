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

Architectures of transformers {version}, made small with random weights, saved, exported with
`sardonyx hf` and run. `make hf-sweep` does it again; this page is written by its `--page`.

*right*: the answers are eager PyTorch's: of models that generate, 20 greedy tokens at batch 1 and
2 with a row that is padded, of others all outputs at other sizes than the example's. *wrong*: they
are not. *unsure*: they are not, where PyTorch's own answers in float64, by its plain kernels
or for inputs that are off by a few units in the last place differ as much, since scores of random
weights are nearly equal, or where PyTorch has other tokens after an image alone than after two.
*refused*: with the diagnostic that stands beside it. *not made*: no small model of it runs in eager
PyTorch here, so there was nothing to export.
"""
_DECODERS = """
## Decoders of text

With their cache, or *without a cache* where transformers has none for them that inputs could hold,
in plain ONNX Runtime, and with `--runtime onnxruntime-genai` in
onnxruntime-genai's own `Generator`. onnxruntime-genai keeps caches of keys and values alone: models
that keep states are not for it. *model builder* says which ones onnxruntime-genai's own model
builder, of the release that the tests use, knows by name.
"""
_OTHERS = """
## All others

With no option but the folder, saved from the class that the architecture is published with; where
SX2009 says that its cache cannot be exported, with the task that it names, *without a cache*. There
are {number}, of which {left} were not tried. Rows stay until they are made anew, and most are of
trees before this one. Those that took too long had 40 seconds of processor time or more.
"""

Records = dict[str, dict[str, Any]]


def write_page(path: Path, cache: Path, decoders: str, others: str) -> None:
    """Writes what the records of `cache` say of the tasks `decoders` and `others`."""
    plain, genai = (_read(cache / name / decoders) for name in ("onnxruntime", "onnxruntime-genai"))
    rest = _read(cache / "onnxruntime" / others)
    lines = [_HEAD.format(version=transformers.__version__), _DECODERS]
    lines += [f"ONNX Runtime: {_counts(plain)}.", "", f"onnxruntime-genai: {_counts(genai)}.", ""]
    lines += ["| architecture | ONNX Runtime | onnxruntime-genai | model builder | why |"]
    lines += ["|---|---|---|---|---|"]
    of_builder = _of_builder()
    for name, record in plain.items():
        beside = genai.get(name, {})
        known = "known" if MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(name) in of_builder else ""
        reasons = dict.fromkeys(text for each in (record, beside) if (text := _reason(each)))
        said = beside.get("status", "")
        lines.append(f"| {name} | {record['status']} | {said} | {known} | {'; '.join(reasons)} |")
    number = len(foremost_tasks())
    lines += [_OTHERS.format(number=number, left=number - len(rest)), _counts(rest) + ".", ""]
    lines += ["| architecture | task | | why |", "|---|---|---|---|"]
    for name, record in rest.items():
        lines.append(
            f"| {name} | {record.get('task', '')} | {record['status']} | {_reason(record)} |"
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


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


def _reason(record: dict[str, Any]) -> str:
    """The first line, as a cell of a table."""
    lines = [line for line in str(record.get("reason", "")).splitlines() if line.strip()]
    if not lines or record["status"] == "not made":
        return ""
    text = re.sub(r"/\S*/(?=\S)", "", lines[0])
    return text.replace("|", "/")[:160]
