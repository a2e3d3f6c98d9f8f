"""See the package's description."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.subjects import default_folder, load_graph, node_counts

from .models import MODELS, make_checkpoint

_TURNS = Path(__file__).parent / "turns.py"
_OURS = "import sys, sardonyx; sardonyx.hf.export(*sys.argv[1:3], precision=sys.argv[3], "
_OURS += "runtime='onnxruntime-genai')"


def main() -> int:
    options = _options()
    print("| model | maker | nodes | made in | peak | prompt | a token | same tokens |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.models:
        folder = options.folder / name
        checkpoint = folder / "checkpoint"
        shutil.rmtree(folder, ignore_errors=True)
        make_checkpoint(name, checkpoint, small=options.size == "small")
        for precision in options.precisions:
            _compare(name, precision, checkpoint, options)
        if not options.keep:
            shutil.rmtree(folder)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.llm")
    parser.add_argument("--models", type=_names, default=list(MODELS), help=", ".join(MODELS))
    parser.add_argument("--precisions", type=_names, default=["fp32", "int4"])
    parser.add_argument("--size", choices=("small", "full"), default="full")
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers/bin/python"))
    parser.add_argument("--folder", type=Path, default=default_folder() / "llm")
    parser.add_argument("--keep", action="store_true", help="the folders, for a closer look")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    return text.split(",")


def _compare(name: str, precision: str, checkpoint: Path, options: argparse.Namespace) -> None:
    peer = str(options.peers.absolute())
    folder = checkpoint.parent
    makers = {
        "sardonyx": [sys.executable, "-c", _OURS, str(checkpoint), "{out}", precision],
        "model builder": [
            peer, "-m", "onnxruntime_genai.models.builder", "-i", str(checkpoint), "-o", "{out}",
            "-p", precision, "-e", "cpu", "-c", str(folder / "cache"),
        ],
    }  # fmt: skip
    made: dict[str, tuple[Path, float, float]] = {}
    for maker, command in makers.items():
        out = folder / f"{maker.split()[0]}-{precision}"
        shutil.rmtree(out, ignore_errors=True)
        seconds, peak, problem = _timed([str(out) if x == "{out}" else x for x in command])
        if problem:
            print(f"| {name} {precision} | {maker} | {problem} | | | | | |", flush=True)
        else:
            made[maker] = (out, seconds, peak)
    if not made:
        return
    folders = [str(out) for out, _, _ in made.values()]
    sizes = [str(x) for x in (options.prompt, options.tokens, options.rounds)]
    run = subprocess.run(
        [peer, str(_TURNS), *sizes, *folders], capture_output=True, text=True, check=False
    )
    if run.returncode:
        print(f"| {name} {precision} | both | {_last(run.stderr)} | | | | | |", flush=True)
        return
    results: dict[str, Any] = json.loads(run.stdout)
    same = len({tuple(each["chosen"]) for each in results.values()}) == 1
    for maker, (out, seconds, peak) in made.items():
        nodes = sum(node_counts(load_graph(out / "model.onnx")).values())
        result = results[str(out)]
        print(
            f"| {name} {precision} | {maker} | {nodes} | {seconds:.1f} s | {peak:.0f} MB "
            f"| {result['prompt']:.0f} ms | {result['token']:.2f} ms "
            f"| {'yes' if same else 'no'} |",
            flush=True,
        )


def _timed(command: list[str]) -> tuple[float, float, str]:
    """Seconds, the most memory in MB, and what went wrong."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        errors = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    problem = _last(errors.decode(errors="replace")) if process.returncode else ""
    return time.perf_counter() - began, used.ru_maxrss / 1024, problem


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].replace("|", "/")[:200] if lines else "failed"


if __name__ == "__main__":
    sys.exit(main())
