"""Models that take the module some time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def dense_model(path: Path, columns: int) -> Path:
    """A product with a float32 matrix of 1000 rows, in a file."""
    weight = numpy_helper.from_array(np.ones((1000, columns), np.float32), "weight")
    inputs, outputs = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size])
        for name, size in (("x", 1000), ("y", columns))
    )
    node = helper.make_node("MatMul", ["x", "weight"], ["y"])
    graph = helper.make_graph([node], "dense", [inputs], [outputs], [weight])
    onnx.save(helper.make_model(graph), path)
    return path
