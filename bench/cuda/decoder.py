"""Folders of a decoder for onnxruntime-genai on CUDA, next to its model builder's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx

import sardonyx.hf
from bench.llm.models import make_checkpoint

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


def compare(folder: Path, *, small: bool, peer: str) -> None:
    checkpoint = folder / "checkpoint"
    make_checkpoint("llama", checkpoint, small=small)
    print("\n| decoder | maker | nodes | prompt, ms | a token, ms |\n|---|---|---|---|---|")
    for precision, wanted in _PRECISIONS.items():
        made, problems = {}, {}
        for maker in ("sardonyx", "model builder"):
            out = folder / f"{maker.split()[0]}-{precision}"
            if maker == "sardonyx":
                sardonyx.hf.export(
                    checkpoint, out, runtime="onnxruntime-genai", provider="cuda", precision=wanted
                )
                problem = ""
            else:
                problem = _builders(checkpoint, out, precision, peer)
            problems[maker] = problem
            if not problem:
                made[maker] = out
        times = {} if missing() else _times(list(made.values()), peer)
        for maker, problem in problems.items():
            if problem:
                print(f"| llama {precision} | {maker} | {problem} | | |")
                continue
            nodes = len(onnx.load(made[maker] / "model.onnx", load_external_data=False).graph.node)
            found = times.get(str(made[maker]))
            cells = f"{found['prompt']:.2f} | {found['token']:.2f}" if found else "– | –"
            print(f"| llama {precision} | {maker} | {nodes} | {cells} |", flush=True)


def _times(folders: list[Path], peer: str) -> dict[str, Any]:
    command = [peer if Path(peer).exists() else sys.executable, str(_TURNS), "512", "32", "5"]
    run = subprocess.run(
        [*command, *map(str, folders)], capture_output=True, text=True, check=False
    )
    if run.returncode:
        return {}
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found
