"""Models with operators of ai.onnx.ml, as converters of scikit-learn and LightGBM write them."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import sardonyx

NODES = {
    "nodes_falsenodeids": [2, 0, 0],
    "nodes_featureids": [0, 0, 0],
    "nodes_hitrates": [1.0, 1.0, 1.0],
    "nodes_missing_value_tracks_true": [0, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_nodeids": [0, 1, 2],
    "nodes_treeids": [0, 0, 0],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_values": [0.5, 0.0, 0.0],
}


def model_of(nodes: list[onnx.NodeProto], outputs: dict[str, int]) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "trees",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, 4])],
        [helper.make_tensor_value_info(name, dtype, None) for name, dtype in outputs.items()],
        [
            numpy_helper.from_array(np.float32([1.0]), "one"),
            numpy_helper.from_array(np.int64([-1, 1]), "column"),
        ],
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=7)


def check(model: onnx.ModelProto, ops: list[str]) -> None:
    after, _ = sardonyx.optimize(model)
    onnx.checker.check_model(after, full_check=True)
    assert [each.op_type for each in after.graph.node] == ops
    x = np.array([[0, 1, 2, 3], [1, 0, 0, 0]], np.float32)

    def run(proto: onnx.ModelProto) -> list[np.ndarray]:
        session = onnxruntime.InferenceSession(
            proto.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        results: list[np.ndarray] = session.run(None, {"X": x})
        return results

    for got, want in zip(run(after), run(model), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_classifier_says_what_its_labels_and_scores_are() -> None:
    tree = helper.make_node(
        "TreeEnsembleClassifier",
        ["X"],
        ["labels", "scores"],
        domain="ai.onnx.ml",
        class_ids=[0, 1],
        class_nodeids=[1, 2],
        class_treeids=[0, 0],
        class_weights=[1.0, 1.0],
        classlabels_int64s=[0, 1, 2],
        post_transform="SOFTMAX",
        **NODES,
    )
    cast = helper.make_node("Cast", ["labels"], ["label"], to=TensorProto.INT64)
    scaled = helper.make_node("Mul", ["scores", "one"], ["probabilities"])
    outputs = {"label": TensorProto.INT64, "probabilities": TensorProto.FLOAT}
    check(model_of([tree, cast, scaled], outputs), ["TreeEnsembleClassifier"])


def test_a_regressor_gives_a_column() -> None:
    tree = helper.make_node(
        "TreeEnsembleRegressor",
        ["X"],
        ["raw"],
        domain="ai.onnx.ml",
        n_targets=1,
        target_ids=[0, 0],
        target_nodeids=[1, 2],
        target_treeids=[0, 0],
        target_weights=[1.0, 2.0],
        **NODES,
    )
    column = helper.make_node("Reshape", ["raw", "column"], ["y"])
    check(model_of([tree, column], {"y": TensorProto.FLOAT}), ["TreeEnsembleRegressor"])


def test_codes_of_labels_are_as_many_as_these() -> None:
    tree = helper.make_node(
        "LabelEncoder",
        ["X"],
        ["codes"],
        domain="ai.onnx.ml",
        keys_floats=[0.0, 1.0],
        values_floats=[3.0, 4.0],
    )
    scaled = helper.make_node("Mul", ["codes", "one"], ["y"])
    model = model_of([tree, scaled], {"y": TensorProto.FLOAT})
    model.opset_import[1].version = 2
    check(model, ["LabelEncoder"])
