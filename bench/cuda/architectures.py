"""Small models of transformers' architectures on the CUDA provider, next to eager PyTorch."""

from __future__ import annotations

import copy
import json
import logging
import os
import subprocess
import sys
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import torch
import transformers
from tests.architectures.capturing import first_runnable
from tests.architectures.tiny import architectures
from tests.architectures.workers import run_each
from torch.export import Dim

import sardonyx
from sardonyx._runtime.session import open_session, run
from sardonyx.hf.base.experts import all_experts
from sardonyx.hf.evaluation.references import as_sure, of_pytorch

from . import timing
from .makers import in_type
from .placing import left_to_the_cpu
from .results import Record, Results

_SECONDS = 150.0
_AT_ONCE = 16  # between two looks at the clock
_TOLERANCE = 1e-4  # of the largest number of an answer
_HALF = 2.0**-11  # what rounding to float16 may change, of the largest number
_Tensors = dict[str, torch.Tensor]


def sweep(count: int, results: Results, *, halves: bool) -> bool:
    """Prints a row for each that is not right, or not on the GPU as a whole, and the counts.

    Without a GPU, the CPU provider computes the answers, and the table of kernels says what a GPU
    would leave to the CPU. Whether none is wrong, and nothing is left.
    """
    # In no order of theirs, so that any number of them is a fair sample.
    chosen = sorted(architectures(), key=lambda name: zlib.crc32(name.encode()))[:count]
    has_gpu = not timing.missing()
    missing = [name for name in chosen if _key(name) not in results.records]
    for names in _parts(missing, _AT_ONCE):
        if results.minutes_left() == 0:
            results.left_out += [
                _key(name) for name in missing if _key(name) not in results.records
            ]
            break
        found = _elsewhere(names, halves) if has_gpu else outcomes(names, halves, jobs=1)
        results.put({_key(name): found[name] for name in names})
    known = {name: results.records[_key(name)] for name in chosen if _key(name) in results.records}
    print("\n| architecture | result | nodes | on the CPU |\n|---|---|---|---|")
    is_right = True
    for precision in ("fp32", "fp16")[: 1 + halves]:
        rows = {name: each[precision] for name, each in known.items() if precision in each}
        for name, facts in rows.items():
            if facts["result"] in ("right", "not made") and not facts.get("left"):
                continue
            left = ", ".join(f"{op} {n}" for op, n in facts.get("left", {}).items()) or "nothing"
            why = f": {facts['why']}" if "why" in facts else ""
            row = f"{facts['result']}{why} | {facts.get('nodes', '')} | {left}"
            print(f"| {name} {precision} | {row} |")
        counts = Counter(facts["result"] for facts in rows.values())
        listed = ", ".join(f"{result}: {n}" for result, n in counts.most_common())
        print(f"{precision}: {listed}", flush=True)
        is_right &= not counts["wrong"] + counts["failed"]
        is_right &= not any(facts.get("left") for facts in rows.values())
    return is_right


def _key(name: str) -> str:
    return f"architectures/{name}"


def _parts(names: list[str], size: int) -> Iterator[list[str]]:
    for first in range(0, len(names), size):
        yield names[first : first + size]


def _elsewhere(names: list[str], halves: bool) -> dict[str, Record]:
    """In a process of its own: one that has used CUDA can't be forked."""
    command = [sys.executable, "-m", "bench.cuda.architectures", str(int(halves)), *names]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        why = f"exit code {ended.returncode}"
        return {name: {"fp32": {"result": "not run", "why": why}} for name in names}
    found: dict[str, Record] = json.loads(ended.stdout.splitlines()[-1])
    return found


def outcomes(names: list[str], halves: bool, jobs: int) -> dict[str, Record]:
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        def record(name: str, facts: Record) -> None:
            (folder / f"{name}.json").write_text(json.dumps(facts), encoding="utf-8")

        def failed(name: str, why: str) -> None:
            path = folder / f"{name}.json"
            if not path.exists():
                record(name, {"fp32": {"result": "not exported", "why": why}})
                return
            # ONNX Runtime's CPU provider crashes of some models in half precision.
            known = json.loads(path.read_text(encoding="utf-8"))
            record(name, {**known, "fp16": {"result": "not run", "why": why}})

        run_each(
            names,
            lambda name: _outcomes(name, halves, record),
            failed,
            jobs,
            _SECONDS,
        )
        return {
            name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            for name in names
        }


def _outcomes(name: str, halves: bool, record: Callable[[str, Record], None]) -> None:
    made = first_runnable(name, [])
    if made is None:
        record(name, {"fp32": {"result": "not made"}})
        return
    inputs = made.recipe.make(2, made.recipe.lengths[0])
    found = {"fp32": _outcome(made.model, inputs, made.recipe.dims, _difference)}
    record(name, found)
    if halves:
        half = copy.deepcopy(made.model).half()
        found["fp16"] = _outcome(
            half, in_type(inputs, torch.float16), made.recipe.dims,
            lambda module, model, tensors: _difference_in_half(made.model, module, model, tensors),
        )  # fmt: skip
        record(name, found)


def _outcome(
    module: torch.nn.Module,
    inputs: _Tensors,
    dims: Any,
    difference: Callable[[torch.nn.Module, onnx.ModelProto, _Tensors], str],
) -> Record:
    example = {name: each.clone() for name, each in inputs.items()}
    try:
        model = _exported(module, example, dims).model_proto
    except sardonyx.OnnxExporterError as error:
        return {"result": "not exported", "why": str(error).splitlines()[0][:100]}
    try:
        problem = difference(module, model, inputs)
    except Exception as error:
        # ONNX Runtime's classes, which only a private module names. What the CPU provider does not
        # compute in half precision, some of its kernels say when they run.
        is_half = any(each.dtype == torch.float16 for each in module.parameters())
        lacking = ("NotImplemented", "RuntimeException") if is_half else ("NotImplemented",)
        is_lacking = type(error).__name__ in lacking and timing.missing() != ""
        # A GPU's kernel, of an opset for which the CPU provider has none.
        why = (str(error).strip().splitlines() or [type(error).__name__])[0][-100:]
        return {"result": "not run on the CPU" if is_lacking else "failed", "why": why}
    left = left_to_the_cpu(model) if timing.missing() else _placed(model, inputs)
    return {"result": problem or "right", "nodes": len(model.graph.node), "left": dict(left)}


def _exported(model: torch.nn.Module, example: _Tensors, dims: Any) -> Any:
    """With dynamic batch and length, else with a dynamic batch, else with neither."""
    runtime: Any = "onnxruntime-cuda"
    for wanted in ({"batch", "length"}, {"batch"}, set[str]()):
        shapes = {
            argument: {axis: Dim.DYNAMIC for axis, what in axes.items() if what in wanted}
            for argument, axes in dims.items()
        }
        try:
            with all_experts(model):  # as `sardonyx hf` exports them
                return sardonyx.export(
                    model, (), kwargs={name: each.clone() for name, each in example.items()},
                    dynamic_shapes=shapes, target_runtime=runtime,
                )  # fmt: skip
        except sardonyx.OnnxExporterError:
            if not wanted:
                raise
    raise AssertionError("the last one returns or raises")


def _eager(module: torch.nn.Module, inputs: _Tensors) -> list[torch.Tensor]:
    with torch.no_grad():
        results = module(**inputs)
    leaves = torch.utils._pytree.tree_leaves(results)
    return [each for each in leaves if isinstance(each, torch.Tensor)]


def _answers(made: onnx.ModelProto, inputs: _Tensors) -> list[torch.Tensor]:
    if not timing.missing():
        return timing.answers(made.SerializeToString(), inputs)
    running = open_session(made.SerializeToString())
    feeds = {each.name: inputs[each.name] for each in running.get_inputs()}
    return run(running, feeds, [each.name for each in made.graph.output])


def _difference(model: torch.nn.Module, made: onnx.ModelProto, inputs: _Tensors) -> str:
    """What is wrong with the answer; empty where it is PyTorch's."""
    found = _answers(made, inputs)
    others: list[list[torch.Tensor]] | None = None
    for place, (got, right) in enumerate(zip(found, _eager(model, inputs), strict=False)):
        if got.shape == right.shape and _is_close(got, right):
            continue
        if others is None:
            others = of_pytorch(model, inputs, lambda m, tensors: _eager(m, {**inputs, **tensors}))
        return "unsure" if as_sure(got, right, [each[place] for each in others]) else "wrong"
    return ""


def _difference_in_half(
    model: torch.nn.Module, half: torch.nn.Module, made: onnx.ModelProto, inputs: _Tensors
) -> str:
    """Whether the answer is further from float32's than three times PyTorch's in half precision."""
    wanted = _eager(model, in_type(inputs, torch.float32))
    theirs = _eager(half, inputs)
    for got, right, other in zip(_answers(made, inputs), wanted, theirs, strict=False):
        if got.shape != right.shape:
            return "wrong"
        if not right.is_floating_point():
            if not torch.equal(got, right) and not torch.equal(got, other):
                return "unsure"
            continue
        if right.numel() == 0:
            continue
        finite = right.isfinite() & other.isfinite()
        apart = [((each.float() - right).abs() * finite).nan_to_num() for each in (got, other)]
        own = float(apart[1].max()) + _HALF * float((right * finite).nan_to_num().abs().max())
        if float(apart[0].max()) > 3 * own:
            return "wrong"
    return ""


def _is_close(got: torch.Tensor, right: torch.Tensor) -> bool:
    if not right.is_floating_point():
        return torch.equal(got, right)
    most = float(right.abs().max()) if right.numel() else 0.0
    return torch.allclose(got, right, rtol=_TOLERANCE, atol=_TOLERANCE * most, equal_nan=True)


def _placed(model: onnx.ModelProto, inputs: _Tensors) -> Counter[str]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "model.onnx"
        onnx.save(model, path)
        return timing.placed(str(path), inputs)[1]


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    jobs = max((os.cpu_count() or 2) // 2, 1)
    print(json.dumps(outcomes(sys.argv[2:], bool(int(sys.argv[1])), jobs)))
