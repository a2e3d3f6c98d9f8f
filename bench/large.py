"""A model beyond the 2 GB of protobuf through `sardonyx optimize`, and one of TorchScript through
`sardonyx convert`: the most memory, and the time.

`make bench-large` makes models of 5 GB in a folder that goes at the end, and prints a table;
`make bench-large ARGS="--tasks torchscript --gigabytes 1"` one of the archive alone. Memory is
that which the process holds of its own, without pages of the files that it reads and writes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from .memory import Watch

_WIDTH = 4096
_BYTES = 4 * _WIDTH * _WIDTH  # of a weight

_TASKS = {
    "simplified": [],
    "onnxruntime-cpu": ["--runtime", "onnxruntime-cpu"],
    "fp16": ["--precision", "fp16"],
    "int4, extremes": ["--precision", "int4", "--method", "rtn", "--runtime", "onnxruntime-cpu"],
    "int4, searched": ["--precision", "int4", "--runtime", "onnxruntime-cpu"],
}
_SCRIPT = "torchscript"


def make(path: Path, layers: int) -> None:
    """`layers` MatMuls with different weights, each followed by a decomposed Gelu."""
    nodes, weights = [], []
    last = "x"
    for number in range(layers):
        name = f"layer_{number}"
        weights.append(_external(f"{name}.weight", path.name + ".data", number))
        steps = (
            ("MatMul", [last, f"{name}.weight"], "product"),
            ("Div", [f"{name}.product", "root"], "scaled"),
            ("Erf", [f"{name}.scaled"], "erf"),
            ("Add", [f"{name}.erf", "one"], "sum"),
            ("Mul", [f"{name}.product", "half"], "half"),
            ("Mul", [f"{name}.half", f"{name}.sum"], "out"),
        )
        nodes += [helper.make_node(op, given, [f"{name}.{made}"]) for op, given, made in steps]
        last = f"{name}.out"
    numbers = {"root": 2**0.5, "one": 1.0, "half": 0.5}
    for name, value in numbers.items():
        weights.append(helper.make_tensor(name, TensorProto.FLOAT, [], [value]))
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", _WIDTH])
        for name in ("x", last)
    )
    graph = helper.make_graph(nodes, "large", [x], [y], weights)
    opsets = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    _fill(Path(f"{path}.data"), layers)


def _external(name: str, file: str, number: int) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[_WIDTH, _WIDTH])
    tensor.data_location = TensorProto.EXTERNAL
    places = {"location": file, "offset": number * _BYTES, "length": _BYTES}
    for key, value in places.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(value)
    return tensor


def _fill(path: Path, layers: int) -> None:
    values = np.random.default_rng(0).standard_normal((_WIDTH, _WIDTH)).astype(np.float32) * 0.02
    with path.open("wb") as file:
        for number in range(layers):
            file.write(np.roll(values, number, axis=0).tobytes())


def make_script(path: Path, layers: int) -> None:
    """A scripted module of `layers` Linears, whose weights all differ, as torch.jit.save has it."""
    import torch

    linears = [torch.nn.Linear(_WIDTH, _WIDTH, bias=False) for _ in range(layers)]
    torch.jit.script(torch.nn.Sequential(*linears)).save(str(path))


def measure(words: list[str], task: str, folder: Path) -> str:
    """A row of the table, of a command without what it writes. Raises where it fails."""
    out = folder / "out.onnx"
    command = Path(os.environ.get("SARDONYX_BUILD", "build")) / "bin" / "sardonyx"
    words = [str(command), *words, "-o", str(out)]
    before, began = os.times(), time.perf_counter()
    with subprocess.Popen(words) as process, Watch(process.pid) as watch:
        if process.wait():
            raise RuntimeError(f"{' '.join(words)} ended with {process.returncode}")
    seconds, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user
    cpu -= before.children_system
    written = sum(each.stat().st_size for each in folder.glob("out.onnx*"))
    nodes = len(onnx.load(out, load_external_data=False).graph.node)
    for each in folder.glob("out.onnx*"):
        each.unlink()
    return (
        f"| {task} | {nodes} | {written / 1e9:.2f} GB | {watch.most / 1e3:.1f} MB "
        f"| {seconds:.1f} s | {cpu:.1f} s |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.large", description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=5.0)
    every = [*_TASKS, _SCRIPT]
    parser.add_argument("--tasks", type=lambda text: text.split(";"), default=every)
    parser.add_argument("--folder", type=Path, help="where there is room for two such models")
    options = parser.parse_args()
    layers = max(1, round(options.gigabytes * 1e9 / _BYTES))
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="sardonyx-large-") as scratch:
        folder = Path(scratch)
        model, archive = folder / "source.onnx", folder / "source.pt"
        print(f"{layers} weights of {_BYTES / 1e6:.0f} MB\n")
        print("| | nodes | written | memory | time | of the processor |\n|---|---|---|---|---|---|")
        for task in options.tasks:
            if task == _SCRIPT:
                make_script(archive, layers)
                words = ["convert", str(archive), "--input", f"input:float32[rows,{_WIDTH}]"]
            else:
                if not model.exists():
                    make(model, layers)
                words = ["optimize", str(model), "--quiet", *_TASKS[task]]
            print(measure(words, task, folder), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
