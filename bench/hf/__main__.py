"""Exports a small model of every architecture of transformers from a folder, and runs it.

    make hf-sweep ARGS="--task text-generation-with-past --models llama,gpt2"
    make hf-sweep ARGS="--task foremost --page docs/architectures.md"
    make hf-sweep ARGS="--runtime onnxruntime-genai"
    make hf-sweep ARGS="--options static_cache=64,last_logits=true"

Each model is made of its configuration with small numbers, saved with save_pretrained(), exported
with `sardonyx.hf.export` from the folder, and verified: greedy tokens of models that generate,
outputs at other sizes of all others. `--task foremost` names no task: each architecture is made
for what it is published for, and exported with no option but the folder; "all" goes through every
task. What came of each is kept in a folder, and done once.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.architectures.workers import run_each

from .checkpoints import architectures, foremost_tasks
from .page import write_page
from .sweeping import prepare_libraries, sweep_parser
from .trial import trial

DECODERS = "text-generation-with-past"
FOREMOST = "foremost"
_DONE = {"right", "unsure", "wrong", "refused", "failed", "not made"}


def main() -> None:
    options = _options()
    options.cache.mkdir(parents=True, exist_ok=True)
    tasks = _all_tasks() if options.task == "all" else [options.task]
    for task in tasks:
        records = options.cache / options.runtime / " ".join(filter(None, (task, options.options)))
        if not options.summary:
            _sweep(options, task, records)
        print(_summary(records, task))
    if options.page:
        write_page(options.page, options.cache, DECODERS, FOREMOST)


def _options() -> argparse.Namespace:
    parser = sweep_parser("bench.hf", __doc__, cache="hf-sweep", limit=600)
    parser.add_argument("--task", default=DECODERS)
    parser.add_argument("--runtime", default="onnxruntime")
    parser.add_argument("--options", default="", help="of sardonyx.hf.export: static_cache=64,…")
    parser.add_argument("--failed", action="store_true", help="again those that are not right")
    parser.add_argument("--page", type=Path, help="write what came of all as a page")
    return parser.parse_args()


def _all_tasks() -> list[str]:
    from sardonyx.hf.base.tasks import TASKS

    return [name for task in TASKS for name in task.names]


def _sweep(options: argparse.Namespace, task: str, records: Path) -> None:
    prepare_libraries()
    export_options = _values(options.options)
    made_for = foremost_tasks() if task == FOREMOST else dict.fromkeys(architectures(task), task)
    names = [n for n in made_for if not options.models or n in options.models.split(",")]
    if not options.again:
        kept = {"right", "not made"} if options.failed else _DONE
        names = [n for n in names if _recorded(records, n).get("status") not in kept]
    # In no order of theirs, so that what is done so far is a fair sample at any time.
    names.sort(key=lambda name: zlib.crc32(name.encode()))
    run_each(
        names[: options.most],
        lambda n: _record(
            records,
            n,
            **trial(n, made_for[n], options.runtime, task != FOREMOST, export_options),
        ),
        lambda n, why: _record(records, n, status="failed", task=made_for[n], reason=why),
        options.jobs,
        options.limit,
    )


def _values(text: str) -> dict[str, Any]:
    """The options in a text such as "static_cache=64,last_logits=true"."""
    pairs = (each.partition("=") for each in text.split(",") if each)
    return {name: json.loads(value) for name, _, value in pairs}


def _record(records: Path, name: str, **facts: Any) -> None:
    """Writes what came of an architecture, with the releases it was tried with."""
    records.mkdir(parents=True, exist_ok=True)
    releases = {package: version(package) for package in ("torch", "transformers")}
    whole = {"name": name, **facts, "releases": releases}
    (records / f"{name}.json").write_text(json.dumps(whole, indent=1))


def _recorded(records: Path, name: str) -> dict[str, Any]:
    path = records / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _summary(folder: Path, task: str) -> str:
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    counts = Counter(record["status"] for record in records)
    lines = [f"{task}: " + ", ".join(f"{count} {status}" for status, count in counts.items())]
    for record in records:
        if record["status"] != "right":
            first = " ".join(str(record.get("reason", "")).split())[:300]
            lines.append(f"  {record['status']:9}{record['name']}: {first}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
