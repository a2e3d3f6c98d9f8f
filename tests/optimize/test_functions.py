"""Identical layers as one function: `sardonyx optimize --functions`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import sardonyx
from tests.harness.command import run_command

WIDTH = 16


def decoder(layers: int, *, masks: bool = False) -> onnx.ModelProto:
    """Residual layers whose weights have names of their own; what all read is computed in the
    first."""
    rng = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"

    def weight(name: str, *shape: int) -> str:
        array = rng.standard_normal(shape).astype(np.float32) / 4
        weights.append(numpy_helper.from_array(array, name))
        return name

    for i in range(layers):
        scale, bias = weight(f"layer.{i}.scale", WIDTH), weight(f"layer.{i}.bias", WIDTH)
        up, down = weight(f"layer.{i}.up", WIDTH, 24), weight(f"layer.{i}.down", 24, WIDTH)
        nodes.append(helper.make_node("LayerNormalization", [value, scale, bias], [f"n{i}"]))
        nodes.append(helper.make_node("MatMul", [f"n{i}", up], [f"u{i}"]))
        if i == 0 and masks:
            nodes.append(helper.make_node("Greater", ["x", "zero"], ["seen"]))
            nodes.append(helper.make_node("Cast", ["seen"], ["mask"], to=TensorProto.FLOAT))
            weights.append(numpy_helper.from_array(np.float32(0.0), "zero"))
        nodes.append(helper.make_node("Tanh", [f"u{i}"], [f"a{i}"]))
        nodes.append(helper.make_node("MatMul", [f"a{i}", down], [f"d{i}"]))
        last = f"d{i}"
        if masks:
            nodes.append(helper.make_node("Mul", [last, "mask"], [f"m{i}"]))
            last = f"m{i}"
        nodes.append(helper.make_node("Add", [value, last], [f"y{i}"]))
        value = f"y{i}"
    last = [value, weight("last.scale", WIDTH), weight("last.bias", WIDTH)]
    nodes.append(helper.make_node("LayerNormalization", last, ["y"]))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", WIDTH])
    graph = helper.make_graph(nodes, "decoder", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def answers(model: onnx.ModelProto, rows: int) -> list[Any]:
    """In ONNX Runtime, and in the reference evaluator, which calls functions as they are."""
    import onnxruntime
    from onnx.reference import ReferenceEvaluator

    x = np.random.default_rng(1).standard_normal((rows, WIDTH)).astype(np.float32)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return [session.run(None, {"x": x})[0], ReferenceEvaluator(model).run(None, {"x": x})[0]]


@pytest.mark.parametrize("masks", [False, True])
def test_layers_become_one_function(masks: bool) -> None:
    before = decoder(4, masks=masks)
    after, report = sardonyx.optimize(before, functions=True)
    onnx.checker.check_model(after, full_check=True)
    calls = [node for node in after.graph.node if node.domain == "sardonyx.layers"]
    assert [node.op_type for node in calls] == ["Layer"] * 4
    (function,) = after.functions
    assert len(function.node) == 5 + masks
    assert report.nodes_after == len(after.graph.node) == 5 + 2 * masks
    # Each layer is called with weights of its own.
    own = [{name for name in node.input if name.startswith("layer.")} for node in calls]
    assert [len(names) for names in own] == [4] * 4
    assert len(set.union(*own)) == 16
    for rows in (1, 3, 0):
        for got, want in zip(answers(after, rows), answers(before, rows), strict=True):
            np.testing.assert_allclose(got, want, atol=1e-5)


def test_nothing_alike_nothing_changes() -> None:
    after, _ = sardonyx.optimize(decoder(1), functions=True)
    assert not after.functions
    assert len(after.graph.node) == 6


def test_functions_of_the_model_and_their_domain_stay() -> None:
    model = decoder(3)
    body = [helper.make_node("Sinh", ["a"], ["b"])]
    opset = helper.make_opsetid("", 20)
    model.functions.append(helper.make_function("of.others", "Bend", ["a"], ["b"], body, [opset]))
    model.opset_import.append(helper.make_opsetid("of.others", 1))
    last = model.graph.node[-1]
    last.op_type, last.domain = "Bend", "of.others"
    del last.input[1:]
    after, _ = sardonyx.optimize(model, functions=True)
    assert [(f.domain, f.name) for f in after.functions] == [
        ("of.others", "Bend"),
        ("sardonyx.layers", "Layer"),
    ]
    for got, want in zip(answers(after, 2), answers(model, 2), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-5)


def test_on_the_command_line(tmp_path: Path) -> None:
    onnx.save(decoder(3), tmp_path / "model.onnx")
    out = tmp_path / "out.onnx"
    run_command("optimize", tmp_path / "model.onnx", "-o", out, "--functions")
    assert [f.name for f in onnx.load(out).functions] == ["Layer"]


def test_an_opset_without_functions() -> None:
    with pytest.raises(sardonyx.ConversionError, match="SX1802"):
        sardonyx.optimize(decoder(3), functions=True, opset=13)
