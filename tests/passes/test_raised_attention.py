"""Attention that a file spells out, raised and lowered again: the same answers at other sizes."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

import sardonyx

HIDDEN, HEADS, SIZE = 24, 2, 12


def number(name: str, value: float | list[int], dtype: type = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(value, dtype), name)


# How scores of hidden keys are hidden: names before and after.
MASKS = {
    "added": [("Where", "row zero lowest", "mask"), ("Add", "scaled mask", "scores")],
    "put there": [("Where", "row scaled lowest", "scores")],
    "put there before scaling": [
        ("Where", "row product lowest", "some"), ("Div", "some root", "scores")
    ],
    "put there, and a mask added": [
        ("Where", "row scaled lowest", "some"), ("Where", "other zero lowest", "mask"),
        ("Add", "some mask", "scores"),
    ],
}  # fmt: skip


def spelled_out(lowest: float, masked: str = "added") -> onnx.ModelProto:
    """Heads of x that attend to each other, where `seen` says of each key whether it is seen."""
    nodes = []
    for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes += [
            helper.make_node("MatMul", ["x", f"w_{name}"], [f"{name}_flat"]),
            helper.make_node("Reshape", [f"{name}_flat", "apart"], [f"{name}_apart"]),
            helper.make_node("Transpose", [f"{name}_apart"], [name], perm=order),
        ]
    nodes += [
        helper.make_node("Unsqueeze", ["seen", "axes"], ["row"]),
        helper.make_node("Unsqueeze", ["seen", "later_axes"], ["other"]),
        helper.make_node("MatMul", ["q", "k"], ["product"]),
        helper.make_node("Div", ["product", "root"], ["scaled"]),
        *(helper.make_node(op, read.split(), [made]) for op, read, made in MASKS[masked]),
        helper.make_node("Softmax", ["scores"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["heads"]),
        helper.make_node("Transpose", ["heads"], ["rows"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["rows", "joined"], ["y"]),
    ]
    # Products of ones and not of hundreds: of these float32 has no five decimals, before or after.
    random = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(
            (random.normal(size=(HIDDEN, HIDDEN)) / HIDDEN**0.5).astype(np.float32), f"w_{n}"
        )
        for n in "qkv"
    ]
    constants = [
        number("apart", [0, 0, HEADS, SIZE], np.int64),
        number("joined", [0, 0, HIDDEN], np.int64),
        number("axes", [1, 2], np.int64),
        number("later_axes", [1, 3], np.int64),
        number("zero", 0),
        number("lowest", lowest),
        number("root", SIZE**0.5),
    ]
    graph = helper.make_graph(
        nodes,
        "attention",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", "s", HIDDEN]),
            helper.make_tensor_value_info("seen", TensorProto.BOOL, ["b", "s"]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["b", "s", HIDDEN])],
        weights + constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> np.ndarray:
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, feed)[0])


@pytest.mark.parametrize("opset", [17, 23, 24])
@pytest.mark.parametrize(("batch", "length"), [(2, 5), (1, 1), (3, 9)])
def test_attention_is_raised(opset: int, batch: int, length: int) -> None:
    model = spelled_out(float(np.finfo(np.float32).min))
    optimized = sardonyx.optimize(model, opset=opset).model
    onnx.checker.check_model(optimized, full_check=True)
    operators = [node.op_type for node in optimized.graph.node]
    assert len(operators) <= len(model.graph.node)
    assert ("Attention" in operators) == (opset >= 23)

    random = np.random.default_rng(1)
    seen = random.random((batch, length)) > 0.4
    seen[-1] = False  # nothing at all
    feed = {"x": random.normal(size=(batch, length, HIDDEN)).astype(np.float32), "seen": seen}
    np.testing.assert_allclose(run(optimized, feed), run(model, feed), atol=1e-5)


@pytest.mark.parametrize("masked", MASKS)
@pytest.mark.parametrize("lowest", [-1e4, -1e9, float(np.finfo(np.float32).min)])
def test_masks_of_every_making(masked: str, lowest: float) -> None:
    model = spelled_out(lowest, masked)
    twice = masked == "put there, and a mask added"
    # Of -1e4, scaled, a score might still be near.
    raised = lowest < -1e30 or not (twice or (masked.endswith("scaling") and lowest == -1e4))
    random = np.random.default_rng(1)
    for opset in (17, 23):
        optimized = sardonyx.optimize(model, opset=opset).model
        operators = [node.op_type for node in optimized.graph.node]
        assert ("Attention" in operators) == (opset >= 23 and raised)
        for batch, length in [(3, 5), (1, 1)]:
            seen = random.random((batch, length)) > 0.4
            seen[-1] = twice  # nothing at all, which is minus infinity where it is said twice
            x = random.normal(size=(batch, length, HIDDEN)).astype(np.float32)
            got, want = (run(each, {"x": x, "seen": seen}) for each in (optimized, model))
            np.testing.assert_allclose(got, want, atol=1e-5)


def test_weights_that_are_zero_where_hidden() -> None:
    """With minus infinity, rows without a key are zero in the end."""
    model = spelled_out(float("-inf"), "put there")
    nodes = list(model.graph.node)
    at = next(i for i, node in enumerate(nodes) if node.op_type == "Softmax")
    nodes[at].output[0] = "some"
    nodes.insert(at + 1, helper.make_node("Where", ["row", "some", "zero"], ["weights"]))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    optimized = sardonyx.optimize(model, opset=23).model
    assert "Attention" in [node.op_type for node in optimized.graph.node]
    random = np.random.default_rng(1)
    seen = np.array([[True, False, True], [False] * 3])
    x = random.normal(size=(2, 3, HIDDEN)).astype(np.float32)
    got, want = (run(each, {"x": x, "seen": seen}) for each in (optimized, model))
    np.testing.assert_allclose(got, want, atol=1e-5)


def test_rows_that_would_be_nan_stay() -> None:
    model = spelled_out(float("-inf"))
    operators = [node.op_type for node in sardonyx.optimize(model, opset=23).model.graph.node]
    assert "Softmax" in operators


def test_what_was_spelled_out_by_us_is_raised_again() -> None:
    """Heads that share keys, turned by their places: down to an older opset and up again."""
    tensor = helper.make_tensor_value_info
    names = {"q": 4 * 16, "k": 2 * 16, "v": 2 * 16, "cos": 8, "sin": 8}
    nodes = [
        helper.make_node("RotaryEmbedding", ["q", "cos", "sin"], ["tq"], num_heads=4),
        helper.make_node("RotaryEmbedding", ["k", "cos", "sin"], ["tk"], num_heads=2),
        helper.make_node(
            "Attention", ["tq", "tk", "v", "seen"], ["y"], q_num_heads=4, kv_num_heads=2
        ),
    ]
    graph = helper.make_graph(
        nodes,
        "turned",
        [
            *(tensor(n, TensorProto.FLOAT, ["b", "s", size]) for n, size in names.items()),
            tensor("seen", TensorProto.BOOL, ["b", 1, "s", "s"]),
        ],
        [tensor("y", TensorProto.FLOAT, ["b", "s", 64])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    older, _ = sardonyx.optimize(model, opset=17)
    assert "Attention" not in {node.op_type for node in older.graph.node}
    again, _ = sardonyx.optimize(older, opset=23)
    onnx.checker.check_model(again, full_check=True)
    ops = sorted(node.op_type for node in again.graph.node)
    assert ops == ["Attention", "RotaryEmbedding", "RotaryEmbedding"]
    random = np.random.default_rng(3)
    for batch, length in ((2, 5), (1, 1), (3, 2)):
        feeds = {
            n: random.standard_normal((batch, length, size)).astype(np.float32)
            for n, size in names.items()
        }
        feeds["seen"] = random.integers(0, 2, (batch, 1, length, length)).astype(bool)
        feeds["seen"][0, 0, 0] = False
        expected, *others = (
            ort.InferenceSession(each.SerializeToString(), providers=["CPUExecutionProvider"]).run(
                None, feeds
            )[0]
            for each in (model, older, again)
        )
        for got in others:
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
