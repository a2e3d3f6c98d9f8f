"""Conversion after capture, and nodes, compared with torch.onnx's optimized graph."""

from __future__ import annotations

import gc
import statistics
import time
from pathlib import Path
from typing import Any

from tests.models.zoo import Size

from .subjects import load_graph, node_counts, save_torchs, subject

# What moves sizes about: in a well-made graph only where a value is really needed.
_SIZE_OPERATORS = ("Shape", "Gather", "Concat", "Unsqueeze", "Squeeze", "Cast", "Range", "Expand")


def measure(name: str, size: Size, folder: Path) -> dict[str, Any]:
    it = subject(name, size)
    times = []
    for _ in range(7):
        gc.collect()
        began = time.perf_counter()
        program = it.ours()
        times.append(time.perf_counter() - began)
    mine = folder / f"{name}-{size}-ours.onnx"
    program.save(str(mine), external_data=True)
    nodes = node_counts(load_graph(mine))
    result: dict[str, Any] = {
        "capture_seconds": it.capture_seconds,
        "captured_nodes": len(it.program.graph.nodes) if it.program else None,
        "ours_milliseconds": 1e3 * statistics.median(times),
        "ours_fastest_milliseconds": 1e3 * min(times),
        "ours_nodes": sum(nodes.values()),
        "ours_size_operators": {n: nodes[n] for n in _SIZE_OPERATORS if n in nodes},
    }
    path = folder / f"{name}-{size}-torch.onnx"
    try:
        seconds = save_torchs(it, path)
    except Exception as error:
        return result | {"torch_error": f"{type(error).__name__}: {str(error)[:200]}"}
    theirs = node_counts(load_graph(path))
    return result | {
        "torch_seconds": seconds,
        "times_faster": seconds / statistics.median(times),
        "torch_nodes": sum(theirs.values()),
        "torch_size_operators": {n: theirs[n] for n in _SIZE_OPERATORS if n in theirs},
        "node_ratio": sum(nodes.values()) / sum(theirs.values()),
    }
