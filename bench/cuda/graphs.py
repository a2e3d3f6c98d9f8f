"""Models with fixed sizes, which a GPU runs as one CUDA graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx

import sardonyx

from .models import Subject

# Of sizes of tensors: with fixed sizes there are none.
_SIZES = frozenset({"Shape", "Size", "Range", "If", "Loop", "Scan"})


def fixed(source: Path, path: Path, it: Subject, rows: int) -> Path:
    """The model with the sizes of a batch of so many, as `--fixed` writes it."""
    graph = onnx.load(source, load_external_data=False).graph
    inputs = it.inputs(rows)
    sizes = {
        dim.dim_param: inputs[each.name].shape[axis]
        for each in graph.input
        for axis, dim in enumerate(each.type.tensor_type.shape.dim)
        if dim.dim_param
    }
    runtime: Any = "onnxruntime-cuda"
    sardonyx.optimize(source, path, runtime=runtime, fixed=sizes)
    return path


def of_sizes(model: onnx.ModelProto) -> list[str]:
    """Operators of the main graph that would keep it from being one CUDA graph."""
    return sorted({node.op_type for node in model.graph.node} & _SIZES)
