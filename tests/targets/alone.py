"""Operators in ONNX Runtime alone: what it does with a model that nobody has worked on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper

OPSET = 20


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, np.ndarray],
    outputs: dict[str, int],
    opset: int = OPSET,
) -> bytes:
    """A model of these nodes, whose inputs may have any sizes."""
    declared = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim
        )
        for name, array in inputs.items()
    ]
    results = [helper.make_tensor_value_info(name, dtype, None) for name, dtype in outputs.items()]
    graph = helper.make_graph(list(nodes), "alone", declared, results)
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(
        graph, opset_imports=imports, ir_version=helper.find_min_ir_version_for(imports)
    ).SerializeToString()


def session_of(model: bytes) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run(
    op: str, *inputs: np.ndarray, dtype: int | None = None, opset: int = OPSET, **attributes: Any
) -> np.ndarray:
    """The first output of one operator, of `dtype` (by default that of the first input)."""
    feed = {f"x{i}": array for i, array in enumerate(inputs)}
    node = helper.make_node(op, list(feed), ["y"], **attributes)
    result = dtype or helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    return session_of(model_of([node], feed, {"y": result}, opset)).run(None, feed)[0]
