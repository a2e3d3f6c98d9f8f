"""Quantized models of other tools: tables, weights with activations, constants in bodies."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import sardonyx

GENERATOR = np.random.default_rng(0)


def constant(name: str, value: object) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value), name)


def node(op: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), [output], **attributes)


def model_of(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    constants: list[onnx.TensorProto],
    opset: int = 17,
) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "quantized", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets)
    )


def run(model: onnx.ModelProto, **inputs: np.ndarray) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    result: np.ndarray = session.run(None, inputs)[0]
    return result


def ops(model: onnx.ModelProto) -> list[str]:
    return [each.op_type for each in model.graph.node]


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_tables_are_looked_up_before_they_are_dequantized(axis: int | None) -> None:
    table = GENERATOR.integers(-127, 127, (512, 64)).astype(np.int8)
    scale = np.float32(0.01) if axis is None else GENERATOR.random(table.shape[axis], np.float32)
    model = model_of(
        [
            node("DequantizeLinear", "table scale", "real", axis=axis or 0),
            node("Gather", "real ids", "y"),
        ],
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "s"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["b", "s", 64])],
        [constant("table", table), constant("scale", scale)],
    )
    after, _ = sardonyx.optimize(model)
    assert ops(after)[0] == "Gather"
    ids = GENERATOR.integers(0, 512, (2, 5))
    np.testing.assert_array_equal(run(after, ids=ids), run(model, ids=ids))


def product(weight: np.ndarray) -> onnx.ModelProto:
    return model_of(
        [
            node("QuantizeLinear", "x xs xz", "q"),
            node("DequantizeLinear", "q xs xz", "d"),
            node("DequantizeLinear", "w ws wz", "wd"),
            node("MatMul", "d wd", "m"),
            node("QuantizeLinear", "m ys xz", "r"),
            node("DequantizeLinear", "r ys xz", "y"),
        ],
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", len(weight)])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["b", weight.shape[1]])],
        [
            constant("xs", np.float32(0.03)),
            constant("xz", np.uint8(128)),
            constant("w", weight),
            constant("ws", np.float32(0.004)),
            constant("wz", np.int8(0)),
            constant("ys", np.float32(0.5)),
        ],
    )


@pytest.mark.parametrize(
    ("runtime", "dtype"),
    [("onnxruntime", TensorProto.INT8), ("onnxruntime-avx2", TensorProto.UINT8)],
)
def test_weights_of_int8_stay_but_for_processors_without_vnni(runtime: str, dtype: int) -> None:
    model = product(GENERATOR.integers(-127, 128, (64, 32)).astype(np.int8))
    after, _ = sardonyx.optimize(model, runtime=runtime)
    weights = [each.data_type for each in after.graph.initializer if len(each.dims) == 2]
    assert weights == [dtype]


def test_bodies_hold_the_constants_of_their_quantizers() -> None:
    """ONNX Runtime looks for them in the graph of the quantizers alone."""
    codes = GENERATOR.integers(-8, 8, (64, 48)).astype(np.int8)
    scales = GENERATOR.random((2, 48)).astype(np.float32)

    def body(name: str, op: str) -> onnx.GraphProto:
        nodes = [
            node("DequantizeLinear", f"q_{name} s_{name}", f"w_{name}", axis=0, block_size=32),
            node("MatMul", f"x w_{name}", f"m_{name}"),
            node(op, f"m_{name}", name),
        ]
        result = helper.make_tensor_value_info(name, TensorProto.FLOAT, ["b", 48])
        held = [constant(f"q_{name}", codes), constant(f"s_{name}", scales)]
        return helper.make_graph(nodes, name, [], [result], held)

    branches = {"then_branch": body("t", "Abs"), "else_branch": body("e", "Neg")}
    model = model_of(
        [node("If", "c", "y", **branches)],
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", 64]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["b", 48])],
        [],
        opset=21,
    )
    after, _ = sardonyx.optimize(model)
    onnx.checker.check_model(after, full_check=True)
    inner = {each.name: each.g for each in after.graph.node[0].attribute}
    assert [len(each.initializer) for each in inner.values()] == [2, 2]
    x = GENERATOR.standard_normal((3, 64)).astype(np.float32)
    real = x @ (codes * np.repeat(scales, 32, 0))
    for truth, want in ((True, np.abs(real)), (False, -real)):
        got = run(after, x=x, c=np.array(truth))
        np.testing.assert_allclose(got, want, atol=0.02 * np.abs(real).max())
