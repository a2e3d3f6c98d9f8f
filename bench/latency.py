"""Time to run in ONNX Runtime compared with torch.onnx's model: interleaved runs on one thread."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import torch
from tests.harness import Session, difference, model_inputs
from tests.models.zoo import Size

from .subjects import Subject, load_graph, node_counts, subject

_SECONDS = 20.0
_LEAST_ROUNDS = 5
_MAX_ROUNDS = 200


def measure(name: str, size: Size, folder: Path) -> dict[str, Any]:
    it = subject(name, size)
    mine, theirs = (folder / f"{name}-{size}-{who}.onnx" for who in ("ours", "torch"))
    ours = it.ours()
    ours.save(str(mine), external_data=True)
    it.program = it.program or ours.exported_program
    result: dict[str, Any] = {"ours_nodes": sum(node_counts(load_graph(mine)).values())}
    # The conversion part leaves this one; it takes a minute for some models.
    if not theirs.exists():
        try:
            _torchs(it, theirs)
        except Exception as error:
            return result | {"torch_error": f"{type(error).__name__}: {str(error)[:200]}"}
    torch_nodes = sum(node_counts(load_graph(theirs)).values())
    result |= {"torch_nodes": torch_nodes, "node_ratio": result["ours_nodes"] / torch_nodes}
    inputs = _inputs(it)
    return result | _by_turns(Session(mine), Session(theirs), inputs)


def _torchs(it: Subject, path: Path) -> None:
    it.torchs(fixed_sizes=True).save(str(path), external_data=True)


def _inputs(it: Subject) -> list[torch.Tensor]:
    assert it.program is not None
    return model_inputs(it.program, it.inputs.args, it.inputs.kwargs)


def _by_turns(ours: Session, theirs: Session, inputs: list[torch.Tensor]) -> dict[str, Any]:
    """The order changes from round to round, so that neither always finds the cache warm."""
    differs = [difference(a, b) for a, b in zip(ours.run(inputs), theirs.run(inputs), strict=True)]
    times: dict[str, list[float]] = {"ours": [], "torch": []}
    order = [("ours", ours), ("torch", theirs)]
    began = time.perf_counter()
    for turn in range(_MAX_ROUNDS):
        for who, session in order:
            start = time.perf_counter()
            session.run(inputs)
            times[who].append(time.perf_counter() - start)
        order.reverse()
        if turn + 1 >= _LEAST_ROUNDS and time.perf_counter() - began > _SECONDS:
            break
    pairs = zip(times["ours"], times["torch"], strict=True)
    return {
        "ours_milliseconds": 1e3 * statistics.median(times["ours"]),
        "torch_milliseconds": 1e3 * statistics.median(times["torch"]),
        "latency_ratio": statistics.median(a / b for a, b in pairs),
        "latency_ratio_of_fastest": min(times["ours"]) / min(times["torch"]),
        "rounds": len(times["ours"]),
        "differs_from_torch": [d for d in differs if d],
    }
