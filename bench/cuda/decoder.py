"""Folders of a decoder for onnxruntime-genai on CUDA, next to its model builder's."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import onnx

import sardonyx.hf
from bench.llm.models import make_checkpoint

from .results import Record, Results
from .timing import missing

_TURNS = Path(__file__).resolve().parents[1] / "llm" / "turns.py"
_PRECISIONS: dict[str, Any] = {"fp16": "fp16", "int4": "fp16+int4"}


def _builders(checkpoint: Path, out: Path, precision: str, peer: str) -> str:
    """What is wrong with the model builder; empty where it wrote the folder."""
    command = [
        peer, "-m", "onnxruntime_genai.models.builder", "-i", str(checkpoint), "-o", str(out),
        "-p", precision, "-e", "cuda", "-c", str(out.parent / "cache"),
    ]  # fmt: skip
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return f"not found: {error.filename}"
    return "" if run.returncode == 0 else run.stderr.strip().splitlines()[-1][:80]


def compare(folder: Path, results: Results, *, small: bool, peer: str) -> None:
    if not Path(peer).exists():
        peer = sys.executable
    checkpoint = folder / "checkpoint"
    print("\n| decoder | maker | nodes | prompt, ms | a token, ms |\n|---|---|---|---|---|")
    for precision in _PRECISIONS:
        make = partial(_record, folder, checkpoint, precision, small, peer)
        record = results.of(f"decoder/{precision}", make)
        for maker, each in (record or {}).items():
            cells = f"{each['nodes']} | " if "nodes" in each else f"{each['problem']} | "
            cells += " | ".join(
                f"{each[what]:.2f}" if what in each else "–" for what in ("prompt", "token")
            )
            print(f"| llama {precision} | {maker} | {cells} |", flush=True)


def _record(folder: Path, checkpoint: Path, precision: str, small: bool, peer: str) -> Record:
    """Of each maker: nodes and milliseconds, or what is wrong."""
    if not checkpoint.exists():
        make_checkpoint("llama", checkpoint, small=small)
    record: Record = {}
    made: dict[str, Path] = {}
    for maker in ("sardonyx", "model builder"):
        out = folder / f"{maker.split()[0]}-{precision}"
        problem = ""
        if maker == "sardonyx":
            sardonyx.hf.export(
                checkpoint, out, runtime="onnxruntime-genai", provider="cuda",
                precision=_PRECISIONS[precision],
            )  # fmt: skip
        else:
            problem = _builders(checkpoint, out, precision, peer)
        if problem:
            record[maker] = {"problem": problem}
            continue
        made[maker] = out
        graph = onnx.load(out / "model.onnx", load_external_data=False).graph
        record[maker] = {"nodes": len(graph.node)}
    times = {} if missing() else _times(list(made.values()), peer)
    for maker, out in made.items():
        found = times.get(str(out), {})
        record[maker] |= {what: found[what] for what in ("prompt", "token") if what in found}
    return record


def _times(folders: list[Path], peer: str) -> dict[str, Any]:
    command = [peer, str(_TURNS), "512", "32", "5"]
    run = subprocess.run(
        [*command, *map(str, folders)], capture_output=True, text=True, check=False
    )
    if run.returncode:
        return {}
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found
