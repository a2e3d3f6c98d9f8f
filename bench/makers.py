"""From a module to a file, and how fast the file runs: Sardonyx, torch.onnx and OpenVINO.

`make bench-makers` prints a row for each exporter: seconds from the module in memory to a file
(the second time in a process, when all is imported), nodes, and milliseconds of a run on one
thread, in interleaved runs in ONNX Runtime and in OpenVINO, with the sizes of the example.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnxruntime
import torch
from tests.models.zoo import ZOO, Example

import sardonyx

from .subjects import load_graph, node_counts

MODELS = ("bert", "gpt2", "resnet50", "vit", "swin", "t5")
_ROUNDS = 15

Run = Callable[[], Any]


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=",".join(MODELS), help="separated by commas")
    parser.add_argument("--size", choices=("small", "full"), default="full")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    print("| model | made by | s | nodes | ms in ONNX Runtime | ms in OpenVINO |")
    print("|---|---|---|---|---|---|")
    for name in options.models.split(","):
        with tempfile.TemporaryDirectory(prefix="sardonyx-bench-") as folder:
            for row in rows(ZOO.build(name, options.size), Path(folder)):
                print(f"| {name} | {' | '.join(row)} |", flush=True)


def rows(example: Example, folder: Path) -> list[list[str]]:
    """A row for each maker, a dash for what a runtime does not read."""
    made: dict[str, tuple[float, Path | str]] = {}
    for who, make in MAKERS.items():
        try:
            for _ in range(2):
                began = time.perf_counter()
                file = make(example, folder)
                made[who] = time.perf_counter() - began, file
        except Exception as error:
            made[who] = 0.0, f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"
    runs: dict[tuple[str, str], Run] = {}
    for who, (_, path) in made.items():
        if isinstance(path, Path) and path.suffix == ".onnx":
            runs[who, "onnxruntime"] = in_onnxruntime(path, example)
        if isinstance(path, Path):
            runs[who, "openvino"] = in_openvino(path, example)
    times = by_turns(runs)

    def row(who: str) -> list[str]:
        seconds, path = made[who]
        if isinstance(path, str):
            return [who, path, "", "", ""]
        nodes = sum(node_counts(load_graph(path)).values()) if path.suffix == ".onnx" else None
        figures = [times.get((who, runtime)) for runtime in ("onnxruntime", "openvino")]
        return [
            who,
            f"{seconds:.2f}",
            str(nodes or "-"),
            *(f"{1e3 * figure:.1f}" if figure else "-" for figure in figures),
        ]

    return [row(who) for who in made]


def by_turns(runs: dict[tuple[str, str], Run]) -> dict[tuple[str, str], float]:
    """The median seconds of each."""
    times: dict[tuple[str, str], list[float]] = {key: [] for key in runs}
    order = list(runs.items())
    for _ in range(_ROUNDS):
        for key, run in order:
            began = time.perf_counter()
            run()
            times[key].append(time.perf_counter() - began)
        order.reverse()
    return {key: statistics.median(held) for key, held in times.items()}


def _sardonyx(example: Example, folder: Path) -> Path:
    path = folder / "sardonyx.onnx"
    sardonyx.export(
        example.model,
        example.inputs.args,
        kwargs=dict(example.inputs.kwargs),
        dynamic_shapes=example.dynamic_shapes,
    ).save(path)
    return path


def _torch(example: Example, folder: Path) -> Path:
    path = folder / "torch.onnx"
    with contextlib.redirect_stdout(io.StringIO()):
        program = torch.onnx.export(
            example.model,
            example.inputs.args,
            kwargs=dict(example.inputs.kwargs),
            dynamic_shapes=example.dynamic_shapes,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    program.save(str(path))
    return path


# Its capture is PyTorch's tracing: every size is dynamic, every loop the example's.
def _openvino(example: Example, folder: Path) -> Path:
    import openvino

    path = folder / "openvino.xml"
    kwargs = dict(example.inputs.kwargs)
    inputs = kwargs or (
        example.inputs.args[0] if len(example.inputs.args) == 1 else example.inputs.args
    )
    with contextlib.redirect_stdout(io.StringIO()):
        openvino.save_model(
            openvino.convert_model(example.model, example_input=inputs),
            path,
            compress_to_fp16=False,
        )
    return path


MAKERS: dict[str, Callable[[Example, Path], Path]] = {
    "Sardonyx": _sardonyx,
    "torch.onnx": _torch,
    "OpenVINO": _openvino,
}


def tensors(example: Example) -> list[Any]:
    """Those of the call, in order."""
    values = torch.utils._pytree.tree_leaves((example.inputs.args, dict(example.inputs.kwargs)))
    return [value.numpy() for value in values if isinstance(value, torch.Tensor)]


def in_onnxruntime(path: Path, example: Example) -> Run:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    feeds = dict(zip(names, tensors(example), strict=True))
    return lambda: session.run(None, feeds)


def in_openvino(path: Path, example: Example) -> Run:
    import openvino

    model = openvino.Core().compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": 1})
    feeds = dict(enumerate(tensors(example)))
    request = model.create_infer_request()
    return lambda: request.infer(feeds)


if __name__ == "__main__":
    main()
