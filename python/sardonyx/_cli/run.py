"""`sardonyx run model.onnx --random`: a model in ONNX Runtime, without PyTorch."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sardonyx._base.commands import run_command
from sardonyx._base.errors import OnnxExporterError, usage_error
from sardonyx._base.packages import package
from sardonyx._base.versions import warn_untested

from .node_times import NodeTime, by_operator, measure, node_times, picture, times_text

_TYPES = {
    "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
    "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(int16)": np.int16,
    "tensor(int8)": np.int8, "tensor(uint64)": np.uint64, "tensor(uint32)": np.uint32,
    "tensor(uint16)": np.uint16, "tensor(uint8)": np.uint8, "tensor(bool)": np.bool_,
}  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code: 0, 1 for a failure, 2 for wrong usage."""
    options = parser().parse_args(arguments)

    def work() -> tuple[dict[str, Any], str]:
        result = _run(options)
        return result, _text(result, [NodeTime(**each) for each in result["operators"]])

    return run_command(options.json, work)


def parser() -> argparse.ArgumentParser:
    """Of the command's options."""
    made = argparse.ArgumentParser(
        prog="sardonyx run",
        description="Run a model in ONNX Runtime: outputs, and the time of each operator.",
        epilog="examples:\n"
        "  sardonyx run model.onnx --random\n"
        "  sardonyx run model.onnx --random --size batch=8 --size seq=128\n"
        "  sardonyx run model.onnx --inputs inputs.npz --svg times.svg\n"
        "  sardonyx run model.onnx --random --profile times.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("model", help="the .onnx file")
    source = made.add_mutually_exclusive_group(required=True)
    source.add_argument("--random", action="store_true", help="random inputs, from --seed")
    source.add_argument("--inputs", metavar="FILE", help="inputs by name, a file of numpy.savez")
    made.add_argument(
        "--size", action="append", default=[], metavar="NAME=N",
        help="size of a dynamic dimension (default: 1); repeatable",
    )  # fmt: skip
    made.add_argument("--seed", type=int, default=0, help="seed of --random (default: 0)")
    made.add_argument("--repeat", type=int, default=5, help="number of measured runs (default: 5)")
    made.add_argument(
        "--provider", default="CPUExecutionProvider",
        help="execution provider of ONNX Runtime: cpu, cuda, webgpu, dml, or its full name",
    )  # fmt: skip
    made.add_argument("--svg", metavar="FILE", help="write a chart of the time of each operator")
    made.add_argument(
        "--profile", metavar="FILE",
        help="write the time of each node, which inspect --html --measures shows",
    )  # fmt: skip
    made.add_argument("--json", action="store_true", help="print the result as JSON")
    return made


# The packages of ONNX Runtime that have a provider, by its name in small letters.
_PACKAGES = {
    "cuda": "onnxruntime-gpu",
    "tensorrt": "onnxruntime-gpu",
    "dml": "onnxruntime-directml",
    "webgpu": "onnxruntime-webgpu",
    "openvino": "onnxruntime-openvino",
}


def _provider(name: str, available: list[str]) -> str:
    """The provider of this name, in any case and with or without "ExecutionProvider".

    ONNX Runtime itself falls back to the CPU where a provider is missing. A UsageError instead.
    """
    wanted = name.lower().removesuffix("executionprovider")
    for each in available:
        if each.lower().removesuffix("executionprovider") == wanted:
            return each
    raise usage_error(
        f"the installed ONNX Runtime has no provider {name}: it has {', '.join(available)}",
        f"install {_PACKAGES[wanted]} in place of onnxruntime, or leave --provider out"
        if wanted in _PACKAGES
        else "install the package of ONNX Runtime that has it, such as onnxruntime-gpu for CUDA",
    )


def _check_provider(session: Any, provider: str) -> None:
    """ONNX Runtime goes on without a provider whose libraries it cannot load."""
    if provider not in session.get_providers():
        raise usage_error(
            f"{provider} is in the installed ONNX Runtime, and cannot be used here: its libraries "
            "or its device are missing",
            "install the driver and the libraries that it needs (CUDA and cuDNN for cuda), or "
            "leave --provider out",
        )


def _run(options: argparse.Namespace) -> dict[str, Any]:
    ort = package("onnxruntime", "running a model")
    warn_untested("onnxruntime")
    if not Path(options.model).is_file():
        raise usage_error(f"there is no file {options.model}")
    sizes = _sizes(options.size)
    provider = _provider(options.provider, ort.get_available_providers())
    with tempfile.TemporaryDirectory(prefix="sardonyx-") as folder:
        settings = ort.SessionOptions()
        settings.log_severity_level = 3
        settings.enable_profiling = True
        settings.profile_file_prefix = str(Path(folder) / "profile")
        try:
            session = ort.InferenceSession(options.model, settings, providers=[provider])
            _check_provider(session, provider)
            feed = _feed(session, options, sizes)
            session.run(None, feed)  # the first run allocates
            seconds = []
            for _ in range(max(options.repeat, 1)):
                start = time.perf_counter()
                outputs = session.run(None, feed)
                seconds.append(time.perf_counter() - start)
        except OnnxExporterError:
            raise
        except Exception as error:
            raise OnnxExporterError(f"ONNX Runtime: {error}") from error
        by_node = node_times(Path(session.end_profiling()), runs=len(seconds) + 1)
        operators = by_operator(by_node)
    if options.profile:
        Path(options.profile).write_text(json.dumps(measure(by_node)), encoding="utf-8")
    if options.svg:
        Path(options.svg).write_text(picture(operators), encoding="utf-8")
    names = [output.name for output in session.get_outputs()]
    return {
        "model": options.model,
        "seconds": sorted(seconds)[len(seconds) // 2],
        "inputs": [_described(name, value) for name, value in feed.items()],
        "outputs": [_described(*each) for each in zip(names, outputs, strict=True)],
        "operators": [each._asdict() for each in operators],
    }


def _sizes(given: Sequence[str]) -> dict[str, int]:
    sizes = {}
    for each in given:
        name, _, size = each.partition("=")
        if not (name and size.isdigit()):
            raise usage_error(f"--size is NAME=N, not {each}")
        sizes[name] = int(size)
    return sizes


def _feed(session: Any, options: argparse.Namespace, sizes: dict[str, int]) -> dict[str, Any]:
    inputs = {each.name: each for each in session.get_inputs()}
    known = {dim for each in inputs.values() for dim in each.shape if isinstance(dim, str)}
    if unknown := sorted(set(sizes) - known):
        raise usage_error(
            f"the model has no dynamic dimension {', '.join(unknown)}",
            f"it has {', '.join(sorted(known)) or 'none'}",
        )
    if options.inputs:
        try:
            with np.load(options.inputs) as file:
                return {name: file[name] for name in inputs}
        except (OSError, ValueError, KeyError) as error:
            raise usage_error(f"{options.inputs}: {error}") from error
    random = np.random.default_rng(options.seed)
    return {name: _random(each, sizes, random) for name, each in inputs.items()}


def _random(declared: Any, sizes: dict[str, int], random: np.random.Generator) -> Any:
    """Floats of a normal distribution; integers 0 and 1, which indices of anything can be."""
    if declared.type not in _TYPES:
        raise usage_error(
            f"input {declared.name} is a {declared.type}, which --random does not make",
            "give it with --inputs",
        )
    shape = [dim if isinstance(dim, int) else sizes.get(str(dim), 1) for dim in declared.shape]
    dtype = np.dtype(_TYPES[declared.type])
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 2, shape).astype(dtype)


def _described(name: str, value: Any) -> dict[str, Any]:
    record: dict[str, Any] = {"name": name}
    if not isinstance(value, np.ndarray):  # a sequence or a map
        return record | {"type": type(value).__name__, "count": len(value)}
    record |= {"type": str(value.dtype), "shape": list(value.shape)}
    if value.size and value.dtype.kind in "fiu":
        finite = value[np.isfinite(value)].astype(np.float64)
        record["not_finite"] = int(value.size - finite.size)
        if finite.size:
            least, mean, most = finite.min(), finite.mean(), finite.max()
            record |= {"min": float(least), "mean": float(mean), "max": float(most)}
    return record


def _text(result: dict[str, Any], operators: Sequence[NodeTime]) -> str:
    lines = []
    for kind in ("inputs", "outputs"):
        for each in result[kind]:
            shape = ", ".join(map(str, each.get("shape", ())))
            text = f"{kind[:-1]} {each['name']}: {each['type']}[{shape}]"
            if "min" in each:
                text += f" from {each['min']:.4g} to {each['max']:.4g}, mean {each['mean']:.4g}"
            if each.get("not_finite"):
                text += f", {each['not_finite']} NaN or infinite"
            lines.append(text)
    lines += [f"{result['seconds'] * 1e3:.3f} ms a run", times_text(operators)]
    return "\n".join(lines)
