"""Exports a small model of every architecture of transformers from a folder, and runs it.

    make hf-sweep ARGS="--task text-generation-with-past --models llama,gpt2"

Each model is made of its configuration with small numbers, saved with save_pretrained(), exported
with `sardonyx.hf.export` from the folder, and verified: greedy tokens of models that generate,
outputs at other sizes of all others. What came of each is kept in a folder, and done once.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from tests.architectures.tiny import PROFILES, config_class, tiny_config
from tests.architectures.workers import run_each

_MOST_PARAMETERS = 60_000_000


def main() -> None:
    options = _options()
    options.cache.mkdir(parents=True, exist_ok=True)
    if not options.summary:
        _sweep(options)
    print(_summary(options.cache, options.task))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.hf", description=__doc__)
    parser.add_argument("--task", default="text-generation-with-past")
    parser.add_argument("--models", help="architectures, separated by commas; all by default")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/sardonyx/hf-sweep")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600, help="seconds for one architecture")
    parser.add_argument("--most", type=int, default=1000, help="how many are done in this run")
    parser.add_argument("--again", action="store_true", help="also those already done")
    parser.add_argument("--failed", action="store_true", help="again those that failed")
    parser.add_argument("--summary", action="store_true", help="only say what came of all")
    return parser.parse_args()


def _sweep(options: argparse.Namespace) -> None:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    names = _architectures(options.task)
    if options.models:
        names = [name for name in names if name in options.models.split(",")]
    done = {name: _recorded(options.cache, options.task, name) for name in names}
    if not options.again:
        kept = {"right"} if options.failed else {"right", "wrong", "failed", "not made"}
        names = [n for n in names if (done[n] or {}).get("status") not in kept]
    # In no order of theirs, so that what is done so far is a fair sample at any time.
    names.sort(key=lambda name: zlib.crc32(name.encode()))
    run_each(
        names[: options.most],
        lambda name: _record(options, name, **_tried(name, options.task)),
        lambda name, why: _record(options, name, status="failed", reason=why),
        options.jobs,
        options.limit,
    )


def _architectures(task: str) -> list[str]:
    from transformers.models.auto import modeling_auto

    from sardonyx.hf.tasks import task_named

    chosen, _ = task_named(task)
    found = set()
    for auto in chosen.auto_classes:
        mapping = getattr(modeling_auto, auto)._model_mapping
        found |= set(mapping._model_mapping)
    return sorted(found)


def _tried(name: str, task: str) -> dict[str, Any]:
    import sardonyx

    with tempfile.TemporaryDirectory(prefix="sardonyx-sweep-") as work:
        folder = Path(work) / "checkpoint"
        try:
            made = _checkpoint(name, task, folder)
        except Exception as error:
            return {"status": "not made", "reason": _headline(error)}
        began = time.monotonic()
        try:
            report = sardonyx.hf.export(folder, Path(work) / "out", task=task, verify=True)
        except sardonyx.VerificationError as error:
            return {"status": "wrong", "reason": str(error)[:3000], **made}
        except Exception as error:
            return {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:3000], **made}
        return {
            "status": "right",
            "seconds": round(time.monotonic() - began, 1),
            "nodes": [part.nodes for part in report.parts],
            "verified": report.verified,
            **made,
        }


def _checkpoint(name: str, task: str, folder: Path) -> dict[str, Any]:
    """A small model of the architecture, that eager PyTorch can run, in a folder."""
    import torch
    from tests.models.example import unsettle

    from sardonyx.hf.parts import fixed_arguments
    from sardonyx.hf.probing import accepted_example
    from sardonyx.hf.tasks import class_for, task_named

    chosen, _ = task_named(task)
    reasons = []
    for profile in PROFILES:
        shutil.rmtree(folder, ignore_errors=True)
        try:
            config = tiny_config(name, profile)
            model_class = class_for(chosen, config)
            assert model_class is not None, f"{config_class(name)} has no class for {task}"
            if model_class.config_class is config.sub_configs.get("text_config"):
                config = config.get_text_config()
            with torch.device("meta"):
                blank = model_class(config)
            parameters = sum(p.numel() for p in blank.parameters())
            if parameters > _MOST_PARAMETERS:
                raise ValueError(f"{parameters} parameters")
            torch.manual_seed(0)
            model = model_class(config).eval()
            unsettle(model)
            _, inputs, _ = accepted_example(model, config, chosen)
            with torch.no_grad():
                model(**inputs, **fixed_arguments(model))
            model.save_pretrained(folder)
        except Exception as error:
            reasons.append(f"{profile.name}: {_headline(error)}")
            continue
        return {"profile": profile.name, "parameters": parameters}
    raise ValueError("; ".join(reasons))


def _headline(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:300] if lines else ''}"


def _path(cache: Path, task: str, name: str) -> Path:
    return cache / task / f"{name}.json"


def _record(options: argparse.Namespace, name: str, **facts: Any) -> None:
    path = _path(options.cache, options.task, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"name": name, **facts}, indent=1))


def _recorded(cache: Path, task: str, name: str) -> dict[str, Any] | None:
    path = _path(cache, task, name)
    return json.loads(path.read_text()) if path.exists() else None


def _summary(cache: Path, task: str) -> str:
    records = [json.loads(path.read_text()) for path in sorted((cache / task).glob("*.json"))]
    counts = Counter(record["status"] for record in records)
    lines = [f"{task}: " + ", ".join(f"{count} {status}" for status, count in counts.items())]
    for record in records:
        if record["status"] != "right":
            first = " ".join(str(record.get("reason", "")).split())[:300]
            lines.append(f"  {record['status']:9}{record['name']}: {first}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
