"""Models of another maker, with what each kind of file may hold."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 64


def layered(count: int = 2, *, width: int = WIDTH) -> onnx.ModelProto:
    """y = (x @ w_0 + b_0) @ w_1 + ..., with an Identity to drop after each."""
    rng = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for i in range(count):
        w = rng.standard_normal((width, width)).astype(np.float32) / 8
        weights += [
            numpy_helper.from_array(w, f"layer.{i}.w"),
            numpy_helper.from_array(w[0].copy(), f"layer.{i}.b"),
        ]
        nodes += [
            helper.make_node("MatMul", [value, f"layer.{i}.w"], [f"p{i}"], f"/layer.{i}/MatMul"),
            helper.make_node("Add", [f"p{i}", f"layer.{i}.b"], [f"s{i}"], f"/layer.{i}/Add"),
            helper.make_node("Identity", [f"s{i}"], [f"v{i}"], f"/layer.{i}/Identity"),
        ]
        value = f"v{i}"
    nodes.append(helper.make_node("Relu", [value], ["y"], "/Relu"))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", width])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", width])
    graph = helper.make_graph(nodes, "layered", [x], [y], weights)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="other"
    )


def run(model: onnx.ModelProto | str, rows: int = 3) -> np.ndarray:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    source = model if isinstance(model, str) else model.SerializeToString()
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(1).standard_normal((rows, WIDTH)).astype(np.float32)
    (answer,) = session.run(None, {"x": x})
    return np.asarray(answer)
