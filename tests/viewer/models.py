"""Models to look at: layers of a transformer with as many nodes as wanted, in modules or flat."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NODES_A_LAYER = 20
_WIDTH = 16


class _Writer:
    """Nodes one after the other, whose names are paths of modules or say nothing of them."""

    def __init__(self, *, flat: bool) -> None:
        self.flat = flat
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(0)

    def weight(self, name: str, *shape: int) -> str:
        values = self._random.standard_normal(shape).astype(np.float32) / 8
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def node(self, op: str, inputs: list[str], path: str, **attributes: object) -> str:
        name = path.replace("/", "_") if self.flat else "/" + path
        output = name + "_output"
        node = helper.make_node(op, inputs, [output], name=name, **attributes)
        frame = f'File "model.py", line {10 + len(self.nodes) % NODES_A_LAYER}, in forward\n'
        trace = onnx.StringStringEntryProto(
            key="pkg.torch.onnx.stack_trace", value=frame + f"    x = {op.lower()}(x)"
        )
        node.metadata_props.append(trace)
        self.nodes.append(node)
        return output


def transformer(nodes: int, *, flat: bool = False, name: str = "model") -> onnx.ModelProto:
    """A model of `nodes` nodes, rounded to whole layers; all layers read one mask."""
    writer = _Writer(flat=flat)
    x = writer.node("Gather", [writer.weight("embed.weight", 32, _WIDTH), "tokens"], "embed/Gather")
    bias = writer.node("Mul", ["mask", writer.weight("scale", 1)], "mask/Mul")
    for layer in range(max(nodes // NODES_A_LAYER, 1)):
        x = _layer(writer, x, bias, f"layers.{layer}")
    logits = writer.node("MatMul", [x, writer.weight("head.weight", _WIDTH, 32)], "head/MatMul")
    inputs = [
        helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", 8]),
        helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["batch", 8, 8]),
    ]
    outputs = [helper.make_tensor_value_info(logits, TensorProto.FLOAT, ["batch", 8, 32])]
    graph = helper.make_graph(writer.nodes, name, inputs, outputs, writer.weights)
    opsets = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def with_a_function() -> onnx.ModelProto:
    """A call of a model-local function, and an If, whose bodies read what is around them."""
    double = helper.make_node("Add", ["a", "a"], ["b"], name="double")
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("mine", 1)]
    function = helper.make_function("mine", "Twice", ["a"], ["b"], [double], opsets[:1])
    value = helper.make_tensor_value_info("r", TensorProto.FLOAT, [2])
    bodies = {
        f"{name}_branch": helper.make_graph(
            [helper.make_node(op, ["x"], [f"{name}_r"], name=name)], name, [],
            [helper.make_tensor_value_info(f"{name}_r", TensorProto.FLOAT, [2])],
        )
        for name, op in (("then", "Abs"), ("else", "Neg"))
    }  # fmt: skip
    nodes = [
        helper.make_node("Twice", ["x"], ["y"], domain="mine", name="call"),
        helper.make_node("If", ["c"], ["z"], name="choice", **bodies),
        helper.make_node("Add", ["y", "z"], ["r"], name="sum"),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    graph = helper.make_graph(nodes, "model", inputs, [value])
    return helper.make_model(graph, opset_imports=opsets, functions=[function], ir_version=9)


def _layer(writer: _Writer, x: str, bias: str, path: str) -> str:
    normed = _norm(writer, x, f"{path}/norm1")
    heads = [_linear(writer, normed, f"{path}/attention/{each}") for each in ("q", "k", "v")]
    keys = writer.node("Transpose", [heads[1]], f"{path}/attention/Transpose", perm=[0, 2, 1])
    scores = writer.node("MatMul", [heads[0], keys], f"{path}/attention/MatMul")
    scores = writer.node("Add", [scores, bias], f"{path}/attention/Add")
    weights = writer.node("Softmax", [scores], f"{path}/attention/Softmax", axis=-1)
    mixed = writer.node("MatMul", [weights, heads[2]], f"{path}/attention/MatMul_1")
    x = writer.node("Add", [x, _linear(writer, mixed, f"{path}/attention/out")], f"{path}/Add")
    hidden = _linear(writer, _norm(writer, x, f"{path}/norm2"), f"{path}/mlp/up")
    hidden = writer.node("Gelu", [hidden], f"{path}/mlp/Gelu")
    return writer.node("Add", [x, _linear(writer, hidden, f"{path}/mlp/down")], f"{path}/Add_1")


def _linear(writer: _Writer, x: str, path: str) -> str:
    name = path.replace("/", ".")
    product = writer.node(
        "MatMul", [x, writer.weight(f"{name}.weight", _WIDTH, _WIDTH)], f"{path}/MatMul"
    )
    return writer.node("Add", [product, writer.weight(f"{name}.bias", _WIDTH)], f"{path}/Add")


def _norm(writer: _Writer, x: str, path: str) -> str:
    name = path.replace("/", ".")
    scale, shift = writer.weight(f"{name}.weight", _WIDTH), writer.weight(f"{name}.bias", _WIDTH)
    return writer.node("LayerNormalization", [x, scale, shift], f"{path}/LayerNormalization")
