"""Small models of transformers' architectures on the CUDA provider, next to eager PyTorch."""

from __future__ import annotations

import json
import tempfile
import zlib
from collections import Counter
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
from .placing import left_to_the_cpu

_SECONDS = 150.0
_TOLERANCE = 1e-4  # of the largest number of an answer
_Tensors = dict[str, torch.Tensor]


def sweep(count: int) -> bool:
    """Prints a row for each that is not right, or not on the GPU as a whole, and the counts.

    Without a GPU, the CPU provider computes the answers, and the table of kernels says what a GPU
    would leave to the CPU. Whether none is wrong, and nothing is left.
    """
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    # In no order of theirs, so that any number of them is a fair sample.
    chosen = sorted(architectures(), key=lambda name: zlib.crc32(name.encode()))[:count]
    print("\n| architecture | result | nodes | on the CPU |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        def record(name: str, facts: dict[str, Any]) -> None:
            (folder / f"{name}.json").write_text(json.dumps(facts), encoding="utf-8")

        run_each(
            chosen,
            lambda name: record(name, _outcome(name)),
            lambda name, why: record(name, {"result": "not exported", "why": why}),
            1,
            _SECONDS,
        )
        found = {
            name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            for name in chosen
        }
    for name, facts in found.items():
        if facts["result"] not in ("right", "not made") or facts.get("left"):
            left = ", ".join(f"{op} {n}" for op, n in facts.get("left", {}).items()) or "nothing"
            why = f": {facts['why']}" if "why" in facts else ""
            print(f"| {name} | {facts['result']}{why} | {facts.get('nodes', '')} | {left} |")
    counts = Counter(facts["result"] for facts in found.values())
    print(", ".join(f"{result}: {n}" for result, n in counts.most_common()), flush=True)
    return not counts["wrong"] and not any(facts.get("left") for facts in found.values())


def _outcome(name: str) -> dict[str, Any]:
    made = first_runnable(name, [])
    if made is None:
        return {"result": "not made"}
    recipe = made.recipe
    example = recipe.make(2, recipe.lengths[0])
    try:
        program = _exported(made.model, example, recipe.dims)
    except sardonyx.OnnxExporterError as error:
        return {"result": "not exported", "why": str(error).splitlines()[0][:100]}
    model = program.model_proto
    inputs = recipe.make(2, recipe.lengths[0])
    try:
        problem = _difference(made.model, model, inputs)
    except Exception as error:
        # ONNX Runtime's class, which only a private module names.
        if type(error).__name__ != "NotImplemented" or not timing.missing():
            raise
        # A GPU's kernel, of an opset for which the CPU provider has none.
        why = str(error).strip().splitlines()[0][-100:]
        return {"result": "not run on the CPU", "why": why}
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


def _difference(model: torch.nn.Module, made: onnx.ModelProto, inputs: _Tensors) -> str:
    """What is wrong with the answer; empty where it is PyTorch's."""

    def eager(module: torch.nn.Module, tensors: _Tensors) -> list[torch.Tensor]:
        with torch.no_grad():
            results = module(**{**inputs, **tensors})
        leaves = torch.utils._pytree.tree_leaves(results)
        return [each for each in leaves if isinstance(each, torch.Tensor)]

    wanted = eager(model, inputs)
    names = [each.name for each in made.graph.output]
    if timing.missing():
        running = open_session(made.SerializeToString())
        feeds = {each.name: inputs[each.name] for each in running.get_inputs()}
        found = run(running, feeds, names)
    else:
        found = timing.answers(made.SerializeToString(), inputs)
    others: list[list[torch.Tensor]] | None = None
    for place, (got, right) in enumerate(zip(found, wanted, strict=False)):
        if got.shape == right.shape and _is_close(got, right):
            continue
        others = of_pytorch(model, inputs, eager) if others is None else others
        return "unsure" if as_sure(got, right, [each[place] for each in others]) else "wrong"
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
