"""Weights on their way into a file: GB/s and CPU seconds of each path, next to what a copy costs.

    python -m bench.weights [--megabytes 512] [--rounds 3] [--only bf16] [--folder CHECKPOINT]

Every path is measured in turn with `cp` of the bytes that it writes, with numpy's and with
PyTorch's own cast and numpy's write, so that a busy machine slows all of them down; what is printed
is the best of the rounds. `--folder` also compares `sardonyx hf` with onnxruntime-genai's builder,
where that is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import sardonyx
from sardonyx import _native
from sardonyx._model.weight_files import WeightInFile
from sardonyx.hf.checkpoints.packed import CodedWeight

_ROWS, _COLUMNS = 2048, 5632  # as of the layers of a small Llama
_DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
# What NumPy reads the bytes of each type as; it has no bfloat16.
_BITS = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}


class Taken(NamedTuple):
    """What one run took, CPU time being that of all threads and of processes that it started."""

    wall: float
    cpu: float


def taken(run: Callable[[], Any]) -> Taken:
    wall, cpu = time.perf_counter(), _cpu()
    run()
    return Taken(time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


class Casts(torch.nn.Module):
    """Products with weights of one type that are cast to another."""

    def __init__(self, weights: list[torch.Tensor], to: torch.dtype, transposed: bool) -> None:
        super().__init__()
        self.weights = torch.nn.ParameterList([torch.nn.Parameter(w, False) for w in weights])
        self.to_dtype, self.transposed = to, transposed

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        """A product with each weight."""
        cast = [weight.to(self.to_dtype) for weight in self.weights]
        return [x @ (weight.t() if self.transposed else weight) for weight in cast]


def program(source: str, to: str, transposed: bool, megabytes: int) -> Any:
    """An exported program whose weights have `megabytes` of the type `source`."""
    dtype = _DTYPES[source]
    count = max(1, (megabytes << 20) // (_ROWS * _COLUMNS * dtype.itemsize))
    generator = torch.Generator().manual_seed(0)
    weights = [
        (torch.randn(_ROWS, _COLUMNS, generator=generator) * 0.02).to(dtype) for _ in range(count)
    ]
    bits: Any
    method: Any
    bits, _, method = to.partition("-")
    held = _DTYPES.get(to, torch.float32)
    x = torch.zeros(1, _COLUMNS if transposed else _ROWS, dtype=held)
    precision = sardonyx.Precision(bits, method=method) if method else None
    made = sardonyx.export(Casts(weights, held, transposed), (x,))
    return (sardonyx.optimize(made, precision=precision).model if precision else made), weights


def measured(source: str, to: str, transposed: bool, options: argparse.Namespace) -> str:
    """A row of the table."""
    made, weights = program(source, to, transposed, options.megabytes)
    read = sum(weight.numel() * weight.element_size() for weight in weights)
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        path, copy, other = (Path(folder) / name for name in ("m.onnx", "copy", "other"))
        data = path.with_name("m.onnx.data")

        def ours() -> None:
            made.save(path, external_data=True)

        def copied() -> None:
            subprocess.run(["cp", data, copy], check=True)

        def of_torch() -> None:
            dtype = _DTYPES.get(to, torch.float16)
            with other.open("wb") as file:
                for weight in weights:
                    cast = weight.to(dtype)
                    (cast.t() if transposed else cast).contiguous().view(
                        _BITS[dtype]
                    ).numpy().tofile(file)

        def of_numpy() -> None:
            with other.open("wb") as file:
                for weight in weights:
                    array = weight.numpy().astype(to.replace("fp", "float"))
                    np.ascontiguousarray(array.T if transposed else array).tofile(file)

        ours()
        written = data.stat().st_size
        runs: dict[str, Callable[[], None]] = {"ours": ours, "cp": copied}
        if not to.startswith("int"):
            runs["torch"] = of_torch
            if "bf16" not in (source, to):
                runs["numpy"] = of_numpy
        best = {name: Taken(float("inf"), float("inf")) for name in runs}
        for _ in range(options.rounds):
            for name, run in runs.items():
                for made_file in (copy, other):
                    made_file.unlink(missing_ok=True)
                now = taken(run)
                best[name] = min(best[name], now)
    ours_, cp = best["ours"], best["cp"]
    others = "".join(
        f" {best[name].wall / ours_.wall:6.2f}" if name in best else "      -"
        for name in ("torch", "numpy")
    )
    return (
        f"{source:>4} {'T' if transposed else ' '} {to:<11} {written / 1e6:7.0f} MB"
        f" {written / 1e9 / ours_.wall:6.2f} GB/s {ours_.cpu:6.2f} s CPU"
        f" {read / 1e9 / ours_.cpu:6.2f} GB/s of source a core"
        f"  {ours_.wall / cp.wall:5.2f} x cp |{others}"
    )


def torch_q4_0(blocks: torch.Tensor) -> torch.Tensor:
    """The values of ggml's Q4_0, in PyTorch: [blocks, 18] to [blocks, 32]."""
    codes = torch.cat([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], dim=1)
    scales = blocks[:, :2].contiguous().view(torch.float16).float()
    return (codes.float() - 8) * scales


def torch_gptq(words: torch.Tensor, zeros: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """The values of GPTQ, in PyTorch: [in / 8, out] to [in, out]."""
    shifts = torch.arange(0, 32, 4, dtype=torch.int32).view(1, 8, 1)
    codes = ((words.unsqueeze(1) >> shifts) & 15).flatten(0, 1)
    groups = torch.arange(codes.shape[0]) // 128
    return (codes - zeros[groups]).float() * scales[groups]


def dequantized(kind: str, options: argparse.Namespace) -> str:
    """A row of the table: quantized weights of `kind` to a model of float32, transposed."""
    rows, columns = 4096, max(256, (options.megabytes << 20) // 4 // 4096 // 256 * 256)
    generator = torch.Generator().manual_seed(0)
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        held, path, copy, other = (Path(folder) / n for n in ("held", "m.onnx", "copy", "other"))
        out = path.with_name("m.onnx.data")
        blocks = {"Q4_0": (32, 18), "Q4_K": (256, 144), "Q6_K": (256, 210)}
        if kind in blocks:
            elements, size = blocks[kind]
            source = torch.randint(
                0, 120, (rows * columns // elements, size), generator=generator, dtype=torch.uint8
            )

            def place() -> WeightInFile:
                made = _native.Dequantized(
                    kind, ("", str(held), "uint8", [held_bytes], 0, held_bytes), [rows, columns]
                )
                return WeightInFile("", "", "float32", [rows, columns], 0, 0, made)
        else:
            source = torch.randint(
                0, 1 << 30, (rows // 8, columns), generator=generator, dtype=torch.int32
            )
            scales, zeros = torch.rand(rows // 128, columns), torch.ones(rows // 128, columns)

            def place() -> WeightInFile:
                codes = WeightInFile("", str(held), "int32", list(source.shape), 0, held_bytes)
                coded = CodedWeight(
                    codes, scales, 128, 1, [columns, rows], zeros,
                    bits=4, axis=0, transposed=True,
                )  # fmt: skip
                return coded.placed("", Path(folder) / "scales")

        held_bytes = source.numel() * source.element_size()
        source.numpy().tofile(held)
        weight = place()
        module = Casts([torch.empty(weight.dims)], torch.float32, True)
        program_ = sardonyx.export(module, (torch.zeros(1, weight.dims[1]),))
        (name,) = _native.weight_names(program_._native)
        _native.apply_file_weights(program_._native, [(name, *weight[1:])], [], cast=True)

        def ours() -> None:
            program_.save(path, external_data=True)

        def of_torch() -> None:
            with other.open("wb") as file:
                if kind == "Q4_0":
                    for part in source.split(1 << 17):
                        torch_q4_0(part).numpy().tofile(file)
                else:
                    torch_gptq(source, zeros.int(), scales).T.contiguous().numpy().tofile(file)

        runs: dict[str, Callable[[], Any]] = {"ours": ours}
        runs["cp"] = lambda: subprocess.run(["cp", out, copy], check=True)
        if kind in ("Q4_0", "GPTQ"):
            runs["torch"] = of_torch
        best = {name: Taken(float("inf"), float("inf")) for name in runs}
        for _ in range(options.rounds):
            for name, run in runs.items():
                best[name] = min(best[name], taken(run))
        written = out.stat().st_size
    ours_, cp = best["ours"], best["cp"]
    other_ = f"{best['torch'].wall / ours_.wall:6.2f}" if "torch" in best else "     -"
    return (
        f"{kind:>4}   fp32        {written / 1e6:7.0f} MB {written / 1e9 / ours_.wall:6.2f} GB/s"
        f" {ours_.cpu:6.2f} s CPU {held_bytes / 1e9 / ours_.cpu:6.2f} GB/s of source a core"
        f"  {ours_.wall / cp.wall:5.2f} x cp | {other_}"
    )


def bandwidth(megabytes: int = 256) -> float:
    """GB/s read and written when memory is copied in memory."""
    source = np.ones(megabytes << 20, dtype=np.uint8)
    target = np.empty_like(source)
    np.copyto(target, source)
    best = min(taken(lambda: np.copyto(target, source)).wall for _ in range(5))
    return 2 * source.nbytes / 1e9 / best


def checkpoints(folder: Path, scratch: str | None) -> None:
    """`sardonyx hf` next to onnxruntime-genai's builder."""
    has_builder = importlib.util.find_spec("onnxruntime_genai") is not None
    for precision in ("fp16", "int4"):
        with tempfile.TemporaryDirectory(dir=scratch) as out:
            ours = [sys.executable, "-m", "sardonyx", "hf", folder, "-o", f"{out}/ours"]
            ours += ["--precision", precision, "--runtime", "onnxruntime-genai"]
            took = taken(lambda ours=ours: subprocess.run(ours, check=True))  # type: ignore[misc]
            print(f"{precision}: sardonyx hf {took.wall:.1f} s, {took.cpu:.1f} s CPU", flush=True)
            if not has_builder:
                continue
            theirs = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", folder]
            theirs += ["-o", f"{out}/theirs", "-p", precision, "-e", "cpu", "-c", f"{out}/cache"]
            took = taken(lambda theirs=theirs: subprocess.run(theirs, check=True))  # type: ignore[misc]
            print(f"{precision}: the builder {took.wall:.1f} s, {took.cpu:.1f} s CPU", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=int, default=512, help="of the source's weights")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", default="", help="paths whose name has this in it")
    parser.add_argument("--scratch", help="where files are written; by default as tempfile says")
    parser.add_argument("--folder", type=Path, help="a checkpoint, for `sardonyx hf`")
    options = parser.parse_args()
    sardonyx.set_num_threads(options.threads)
    print(f"memory: {bandwidth():.1f} GB/s; {os.cpu_count()} processors, load {os.getloadavg()[0]}")
    print("last columns: PyTorch's and numpy's wall time as multiples of ours")
    casts = [("fp16", "fp32"), ("bf16", "fp32"), ("bf16", "fp16"), ("fp32", "fp16")]
    casts += [("fp32", "bf16"), ("fp32", "fp32"), ("fp16", "fp16")]
    for source, to in casts:
        for transposed in (False, True):
            if options.only in f"{source} {to}":
                print(measured(source, to, transposed, options), flush=True)
    for to in ("int8-rtn", "int4-rtn", "int8-search", "int4-search"):
        if options.only in f"bf16 {to}":
            print(measured("bf16", to, False, options), flush=True)
    for kind in ("Q4_0", "Q4_K", "Q6_K", "GPTQ"):
        if options.only in f"{kind} fp32":
            print(dequantized(kind, options), flush=True)
    if options.folder:
        checkpoints(options.folder, options.scratch)


if __name__ == "__main__":
    main()
