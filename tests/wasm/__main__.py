"""python -m tests.wasm [--count 100] [--browser]

Models of the zoo, converted, and node models of the onnx package, optimized, by the WebAssembly
module and by the command, whose bytes are compared: in Node.js, or on the page in Chromium. Prints
a table of what differs, and exits with 1 where something does. Captured programs are kept in
.cache/wasm-models.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from tests.harness.command import run_command
from tests.models.zoo import ZOO
from tests.node_models.cases import load_cases
from tests.wasm.module import run_jobs, why_not

CACHE = Path(__file__).parents[2] / ".cache" / "wasm-models"
# What each program is converted with.
SETTINGS: list[dict[str, Any]] = [{}, {"runtime": "onnxruntime-cpu", "precision": "int8"}]


def programs() -> Iterator[Path]:
    CACHE.mkdir(parents=True, exist_ok=True)
    for name in ZOO:
        example = ZOO.build(name)
        if not example.capture_first:
            continue
        path = CACHE / f"{name}-{torch.__version__}.pt2"
        if not path.exists():
            part = path.with_suffix(".part.pt2")
            torch.export.save(example.captured(), part)
            part.rename(path)
        yield path


def node_models(folder: Path, count: int) -> Iterator[Path]:
    """Spread over all of them."""
    cases = load_cases()
    for case in cases[:: max(1, len(cases) // max(1, count))][:count]:
        path = folder / f"{case.name}.onnx"
        path.write_bytes(case.data)
        yield path


def words_of(options: dict[str, Any]) -> list[str]:
    return [word for name, value in options.items() for word in (f"--{name}", str(value))]


def outcome(path: Path, output: Path, options: dict[str, Any]) -> bytes | str:
    """The bytes that the command writes, or its message."""
    command = "optimize" if path.suffix == ".onnx" else "convert"
    done = run_command(command, path, "-o", output, "--json", *words_of(options))
    if done.returncode == 0:
        return output.read_bytes()
    return str(json.loads(done.stdout)["diagnostics"][0]["message"])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--browser", action="store_true", help="on the page, not in Node.js")
    arguments = parser.parse_args()
    if reason := why_not():
        print(reason, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jobs: list[dict[str, Any]] = [
            {"path": path, "options": each} for path in programs() for each in SETTINGS
        ]
        models = node_models(folder, max(0, arguments.count - len(jobs)))
        jobs = [*jobs, *({"path": path, "options": {}} for path in models)][: arguments.count]
        for i, job in enumerate(jobs):
            job["output"] = folder / f"{i}-by-module.onnx"
        results, where = on_page(jobs) if arguments.browser else in_node(jobs)
        different = 0
        for i, (job, result) in enumerate(zip(jobs, results, strict=True)):
            expected = outcome(job["path"], folder / f"{i}-by-command.onnx", job["options"])
            if "diagnostics" in result:
                found: bytes | str = result["diagnostics"][0]["message"]
            else:
                found = job["output"].read_bytes()
            if found != expected:
                different += 1
                print(f"{job['path'].stem} {job['options']}: {brief(found)}, not {brief(expected)}")
        seconds = sum(result.get("elapsed", 0) for result in results)
    print(f"{len(jobs)} models, {different} differ; {seconds:.1f} s {where}")
    return 1 if different else 0


def in_node(jobs: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    done = run_jobs(jobs, timeout=3000)
    return done["results"], f"in the module, {done['peak'] / 1e6:.0f} MB at most"


def on_page(jobs: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    # The browser's driver is installed by `make browser-tests` alone.
    from tests.wasm.page_jobs import run_jobs_on_page

    return run_jobs_on_page(jobs), "on the page, to drive it included"


def brief(found: bytes | str) -> str:
    return f"{len(found)} bytes" if isinstance(found, bytes) else found


if __name__ == "__main__":
    sys.exit(main())
