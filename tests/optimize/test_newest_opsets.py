"""Opsets 27 and 28, what they brought said in older ones, and models that no opset can refuse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper
from onnx.reference import ReferenceEvaluator

from tests.harness.command import run_command

Declared = Sequence[tuple[str, int, list[int | str]]]


def saved(
    path: Path, opset: int, nodes: list[onnx.NodeProto], inputs: Declared, outputs: Declared
) -> onnx.ModelProto:
    def declared(values: Declared) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_value_info(*value) for value in values]

    graph = helper.make_graph(nodes, "model", declared(inputs), declared(outputs))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return model


def optimized(path: Path, *words: str) -> onnx.ModelProto:
    out = path.with_name("out.onnx")
    done = run_command("optimize", str(path), "-o", str(out), *words)
    assert done.returncode == 0, done.stderr
    onnx.checker.check_model(out, full_check=True)
    return onnx.load(out)


RNG = np.random.default_rng(36)
REALS = np.array([5.5, -5.5, 5.5, -5.5, 0.0, 3.0], np.float32)
DIVISORS = np.array([2.0, 2.0, -2.0, -2.0, -3.0, np.inf], np.float32)
NEW = {
    "swiglu": (
        helper.make_node("SwiGLU", ["a", "b"], ["y"], alpha=1.5),
        {"a": RNG.normal(size=(2, 3)), "b": RNG.normal(size=(2, 3))},
        np.float32,
        [[2, 3]],
    ),
    "convolution": (
        helper.make_node("CausalConvWithState", ["a", "b"], ["y", "z"], activation="silu"),
        {"a": RNG.normal(size=(2, 3, 5)), "b": RNG.normal(size=(3, 1, 4))},
        np.float32,
        [[2, 3, 5], [2, 3, 3]],
    ),
    "remainder": (
        helper.make_node("Mod", ["a", "b"], ["y"]),
        {"a": REALS, "b": DIVISORS},
        np.float32,
        [[6]],
    ),
    "shift-right": (
        helper.make_node("BitShift", ["a", "b"], ["y"], direction="RIGHT"),
        {"a": [-7, 7, -1, -128, 127], "b": [1, 1, 7, 9, -1]},
        np.int8,
        [[5]],
    ),
    "shift-left": (
        helper.make_node("BitShift", ["a", "b"], ["y"], direction="LEFT"),
        {"a": [-7, 7, -1, 64, 1], "b": [1, 1, 3, 1, 40]},
        np.int32,
        [[5]],
    ),
    "blocks": (
        helper.make_node("SpaceToDepth", ["a"], ["y"], blocksize=2, mode="CRD"),
        {"a": np.arange(48).reshape(1, 3, 4, 4)},
        np.float32,
        [[1, 12, 2, 2]],
    ),
    "range": (
        helper.make_node("Range", ["a", "b", "c"], ["y"]),
        {"a": 0.0, "b": 3.0, "c": 0.25},
        np.float16,
        [["count"]],
    ),
    "logarithm": (
        helper.make_node("ReduceLogSumExp", ["a"], ["y"], keepdims=0),
        {"a": RNG.normal(size=(2, 3)) * 100},
        np.float32,
        [[]],
    ),
}


@pytest.mark.parametrize("opset", [18, 24, 26, 27, 28])
@pytest.mark.parametrize("name", NEW)
def test_operators_of_opset_28_in_older_ones(tmp_path: Path, name: str, opset: int) -> None:
    node, given, dtype, shapes = NEW[name]
    feed = {key: np.asarray(value).astype(dtype) for key, value in given.items()}
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    outputs = [(output, element, shape) for output, shape in zip(node.output, shapes, strict=True)]
    inputs = [(key, element, list(value.shape)) for key, value in feed.items()]
    path = tmp_path / "model.onnx"
    model = saved(path, 28, [node], inputs, outputs)
    lowered = optimized(path, "--opset", str(opset), "--runtime", "standard")
    assert lowered.opset_import[0].version == opset
    expected = ReferenceEvaluator(model).run(None, feed)
    answers = ReferenceEvaluator(lowered).run(None, feed)
    for answer, truth in zip(answers, expected, strict=True):
        np.testing.assert_allclose(answer, truth, rtol=1e-3 if dtype == np.float16 else 1e-5)


@pytest.mark.parametrize("opset", [26, 27, 28])
def test_a_sigmoid_times_its_input_stays_what_the_runtime_has(tmp_path: Path, opset: int) -> None:
    nodes = [
        helper.make_node("Sigmoid", ["x"], ["s"]),
        helper.make_node("Mul", ["x", "s"], ["y"]),
    ]
    path = tmp_path / "model.onnx"
    saved(path, opset, nodes, [("x", T.FLOAT, [2, 4])], [("y", T.FLOAT, [2, 4])])
    model = optimized(path)
    assert model.opset_import[0].version == opset
    assert [node.op_type for node in model.graph.node] == ["Sigmoid", "Mul"]


@pytest.mark.parametrize(
    "words", [["--opset", "17"], ["--runtime", "onnxruntime-cpu"], []], ids=" ".join
)
def test_scatter_of_opset_10(tmp_path: Path, words: list[str]) -> None:
    node = helper.make_node("Scatter", ["x", "i", "u"], ["y"], axis=1)
    inputs = [("x", T.FLOAT, [1, 5]), ("i", T.INT64, [1, 2]), ("u", T.FLOAT, [1, 2])]
    path = tmp_path / "model.onnx"
    saved(path, 10, [node], inputs, [("y", T.FLOAT, [1, 5])])
    model = optimized(path, *words)
    wanted = "Scatter" if model.opset_import[0].version == 10 else "ScatterElements"
    assert [node.op_type for node in model.graph.node] == [wanted]


@pytest.mark.parametrize("to", [T.FLOAT8E4M3FN, T.INT4])
def test_types_that_the_older_opset_cannot_give_are_refused(tmp_path: Path, to: int) -> None:
    path = tmp_path / "model.onnx"
    node = helper.make_node("Cast", ["x"], ["y"], to=to)
    saved(path, 21, [node], [("x", T.FLOAT, [4])], [("y", to, [4])])
    done = run_command("optimize", str(path), "-o", str(tmp_path / "out.onnx"), "--opset", "18")
    assert done.returncode == 1
    assert "SX1504" in done.stderr
    assert not (tmp_path / "out.onnx").exists()


def test_scales_of_a_type_that_the_older_opset_has_not_are_cast(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    names = ["a", "s", "z", "b", "s", "z", "s", "z"]
    inputs = [
        ("a", T.UINT8, [2, 4]),
        ("b", T.UINT8, [4, 3]),
        ("s", T.FLOAT16, []),
        ("z", T.UINT8, []),
    ]
    node = helper.make_node("QLinearMatMul", names, ["y"])
    saved(path, 21, [node], inputs, [("y", T.UINT8, [2, 3])])
    lowered = optimized(path, "--opset", "18")
    assert {node.op_type for node in lowered.graph.node} == {"Cast", "QLinearMatMul"}


def test_the_state_of_a_causal_convolution_has_a_shape(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    nodes = [
        helper.make_node("CausalConvWithState", ["a", "b"], ["y", "state"]),
        helper.make_node("Shape", ["state"], ["z"]),
    ]
    inputs = [("a", T.FLOAT, [2, 3, 5]), ("b", T.FLOAT, [3, 1, 4])]
    outputs = [("y", T.FLOAT, [2, 3, 5]), ("z", T.INT64, [3])]
    saved(path, 28, nodes, inputs, outputs)
    model = optimized(path, "--opset", "28", "--runtime", "standard")
    assert "Shape" not in [node.op_type for node in model.graph.node]
