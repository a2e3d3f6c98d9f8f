"""See the package's description."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .report import judged, table

PARTS = ("startup", "conversion", "latency", "saving", "command")
_MARK = "bench result: "


def main() -> int:
    options = _options()
    if options.one:
        figures = _measured(options.parts[0], options.models[0], options)
        print(_MARK + json.dumps(figures))
        return 0
    results = []
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="sardonyx-bench-") as scratch:
        for part in options.parts:
            for model in _models(part, options.models):
                began = time.monotonic()
                figures = _in_a_process(part, model, options, Path(scratch))
                result = {"part": part, "model": model, "figures": figures}
                result["kept"] = judged(part, model, figures)
                result["seconds"] = round(time.monotonic() - began, 1)
                results.append(result)
                print(table([result]), flush=True)
    broken = [
        f"{r['part']} {r['model']}: {f}" for r in results for f, ok in r["kept"].items() if not ok
    ]
    failed = [f"{r['part']} {r['model']}" for r in results if "failed" in r["figures"]]
    print(f"\nnot kept: {', '.join(broken) or 'none'}; failed: {', '.join(failed) or 'none'}")
    if options.json:
        options.json.write_text(json.dumps({"machine": _machine(), "results": results}, indent=1))
        print(f"written to {options.json}")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="See bench/__init__.py.")
    build = Path(os.environ.get("SARDONYX_BUILD", "build"))
    parser.add_argument("--parts", type=_names, default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--models", type=_names, default=[], help="by default those of the part")
    parser.add_argument("--size", choices=("small", "full"), default="full")
    parser.add_argument("--command", type=Path, default=build / "bin" / "sardonyx")
    parser.add_argument("--folder", type=Path, help="on the disk to write to")
    parser.add_argument("--json", type=Path, default=build / "bench.json")
    parser.add_argument("--limit", type=float, default=1800, help="seconds for one measurement")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _models(part: str, chosen: list[str]) -> list[str]:
    if part == "startup":
        return [""]
    if chosen:
        return chosen
    if part in ("saving", "command"):
        return ["llama"]
    if part == "conversion":
        return ["resnet50", "bert", "gpt2", "llama"]
    return [*_ALL_MODELS]


# Not asked of the models themselves: that would import torch and transformers here.
_ALL_MODELS = (
    "bert",
    "distilbert",
    "roberta",
    "gpt2",
    "llama",
    "mistral",
    "qwen2",
    "qwen3",
    "gemma",
    "phi",
    "t5",
    "bart",
    "whisper",
    "clip",
    "vit",
    "swin",
    "convnext",
    "resnet50",
    "regnet",
    "mobilenetv2",
    "segformer",
    "detr",
    "unet",
    "lstm_tagger",
    "gru_seq2seq",
    "mlp",
    "cnn",
)


def _in_a_process(
    part: str, model: str, options: argparse.Namespace, scratch: Path
) -> dict[str, Any]:
    words = [sys.executable, "-m", "bench", "--one", "--parts", part, "--models", model or "-"]
    words += ["--size", options.size, "--folder", str(scratch), "--command", str(options.command)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error"}
    try:
        done = subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            timeout=options.limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"took longer than {options.limit:.0f} s"}
    for line in done.stdout.splitlines():
        if line.startswith(_MARK):
            figures: dict[str, Any] = json.loads(line.removeprefix(_MARK))
            return figures
    last = "\n    ".join(done.stdout.splitlines()[-4:])
    return {"failed": f"exit code {done.returncode}\n    {last}".rstrip()}


def _measured(part: str, model: str, options: argparse.Namespace) -> dict[str, Any]:
    folder = options.folder
    if part == "startup":
        from . import startup

        return startup.measure()
    if part == "conversion":
        from . import conversion

        return conversion.measure(model, options.size, folder)
    if part == "latency":
        from . import latency

        return latency.measure(model, options.size, folder)
    from . import saving

    if part == "saving":
        return saving.measure(model, options.size, folder)
    return saving.measure_command(model, options.size, folder, options.command)


def _machine() -> dict[str, Any]:
    from importlib import metadata

    packages = ("torch", "onnx", "onnxruntime", "onnxscript", "transformers")
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        **{name: metadata.version(name) for name in packages},
    }


if __name__ == "__main__":
    sys.exit(main())
