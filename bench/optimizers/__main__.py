"""See the package's description."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.subjects import default_folder

from . import running
from .files import make_inputs, models_in
from .models import KINDS, MAKERS
from .node_models import NodeModels
from .tables import Row, markdown, node_table, summary
from .tools import MARK, TOOLS

_MODELS = (
    *("bert", "distilbert", "gpt2", "llama", "t5", "whisper", "clip"),
    *("vit", "swin", "resnet50", "convnext", "mobilenetv2"),
)
_HERE = Path(__file__).parent


def main() -> int:
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    if "zoo" in options.parts:
        for name in options.models or _MODELS:
            for maker in options.makers:
                found = _measured(name, maker, options)
                rows += found
                print(markdown(f"{name} ({maker})", found), flush=True)
        print(summary(rows))
    if "files" in options.parts:
        rows += _files(options)
    if "nodes" in options.parts:
        print(_nodes(options))
    if options.json:
        options.json.write_text(json.dumps([row._asdict() for row in rows], indent=1))
    return 1 if any(row.tool == "sardonyx" and row.problem for row in rows) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.optimizers")
    parser.add_argument("--parts", type=_names, default=["zoo", "nodes"], help="zoo, nodes, files")
    parser.add_argument("--models", type=_names, default=[], help=", ".join(_MODELS))
    parser.add_argument("--makers", type=_names, default=list(MAKERS), help=", ".join(MAKERS))
    parser.add_argument("--tools", type=_names, default=list(TOOLS), help=", ".join(TOOLS))
    parser.add_argument("--size", choices=("small", "full"), default="small")
    parser.add_argument("--every", type=int, default=1, help="of the node models, one in so many")
    parser.add_argument("--sources", type=Path, help="of files: a folder of models and wheels")
    parser.add_argument("--seconds", type=float, default=10, help="for the latency of a model")
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers/bin/python"))
    parser.add_argument("--folder", type=Path, default=default_folder() / "optimizers")
    parser.add_argument("--limit", type=float, default=1800, help="seconds for one optimizer")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if "files" in options.parts and options.sources is None:
        parser.error("--parts files needs --sources FOLDER")
    return options


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _measured(name: str, maker: str, options: argparse.Namespace) -> list[Row]:
    source = options.folder / f"{name}-{options.size}-{maker}.onnx"
    # Ours changes from day to day.
    if maker == "ours" or not source.exists():
        words = [sys.executable, "-m", "bench.optimizers.models", name, options.size, maker]
        done = _run([*words, str(options.folder)], options.limit)
        if done.returncode:
            source.unlink(missing_ok=True)
            return [Row(name, maker, "export", problem=_last_line(done.stdout))]
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="run-") as scratch:
        return _compared(name, maker, source, Path(scratch), options)


def _compared(
    name: str, maker: str, source: Path, scratch: Path, options: argparse.Namespace
) -> list[Row]:
    before = running.session(source, optimize=False)
    inputs = running.feeds(source, before)
    expected = [before.run(None, feed) for feed in inputs]
    del before
    optimized = running.session(source, optimize=True)
    once_optimized = [optimized.run(None, feed) for feed in inputs]
    del optimized
    loaded = running.nodes_once_loaded(source)
    rows = [Row(name, maker, "as exported", running.nodes_of(source), loaded)]
    paths = {"as exported": source}
    for tool in options.tools:
        target = scratch / tool.replace(" ", "-") / "model.onnx"
        target.parent.mkdir()
        row, figures = Row(name, maker, tool), _by(tool, source, target, KINDS.get(name), options)
        if "problem" in figures:
            rows.append(row._replace(problem=figures["problem"]))
            continue
        problem = running.answers_of(target, inputs, expected, once_optimized)
        row = row._replace(nodes=running.nodes_of(target), problem=problem, **figures)
        if not problem:
            row = row._replace(loaded=running.nodes_once_loaded(target))
            paths[tool] = target
        rows.append(row)
    if inputs and options.seconds:
        times = running.by_turns(paths, inputs[0], options.seconds)
        rows = [row._replace(milliseconds=times.get(row.tool)) for row in rows]
    return rows


def _files(options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="files-") as unpacked:
        for source in models_in(options.sources, Path(unpacked)):
            with tempfile.TemporaryDirectory(dir=options.folder, prefix="run-") as scratch:
                # Inputs are saved beside a model: not beside the user's.
                model = Path(scratch) / source.name
                model.symlink_to(source.resolve())
                if why := make_inputs(model):
                    print(f"- {source.name}: {why}", flush=True)
                    continue
                found = _compared(source.stem, "file", model, Path(scratch), options)
                print(markdown(source.name, found), flush=True)
                rows += found
    print(summary(rows))
    return rows


def _by(
    tool: str, source: Path, target: Path, kind: str | None, options: argparse.Namespace
) -> dict[str, Any]:
    return _tool(tool, [str(source), str(target), kind or ""], options)


def _tool(tool: str, words: list[str], options: argparse.Namespace) -> dict[str, Any]:
    python = options.peers if options.peers.exists() else Path(sys.executable)
    try:
        done = _run([str(python), str(_HERE / "tools.py"), tool, *words], options.limit)
    except subprocess.TimeoutExpired:
        return {"problem": f"took longer than {options.limit:.0f} s"}
    for line in done.stdout.splitlines():
        if line.startswith(MARK):
            figures: dict[str, Any] = json.loads(line.removeprefix(MARK))
            return figures
    last = _last_line(done.stdout)
    missing = "ModuleNotFoundError" in last
    return {"problem": f"is not installed: {last}" if missing else last}


def _run(words: list[str], limit: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "OMP_NUM_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error"},
        timeout=limit,
        check=False,
    )


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "said nothing"


def _nodes(options: argparse.Namespace) -> str:
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="nodes-") as scratch:
        models = NodeModels(Path(scratch), options.models, options.every)
        results = {}
        for tool in options.tools:
            done = _tool(tool, ["--several", scratch], options)
            results[tool] = done if "problem" in done else models.judged(tool, done)
        return node_table(len(models.cases), results)


if __name__ == "__main__":
    sys.exit(main())
