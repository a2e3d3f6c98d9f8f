"""Layers of networks in ONNX Runtime alone: a test a rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper

from tests.targets import alone

MISSING = "NOT_IMPLEMENTED"


def test_attention_of_nothing() -> None:
    query, key = np.ones((1, 1, 0, 4), np.float32), np.ones((1, 1, 2, 4), np.float32)
    with pytest.raises(Exception, match="must be greater than 0"):
        alone.run("Attention", query, key, key, opset=23)
    with pytest.raises(Exception, match="must be greater than 0"):
        alone.run("Attention", key[:0], key[:0], key[:0], opset=23)


@pytest.mark.parametrize("shape", [(2, 1, 1, 5), (1, 5), (2, 1, 3, 1)])
def test_attention_mask_of_one_row(shape: tuple[int, ...]) -> None:
    query, key = np.ones((2, 1, 3, 4), np.float32), np.ones((2, 1, 5, 4), np.float32)
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        alone.run("Attention", query, key, key, np.zeros(shape, np.float32), opset=23)


def test_attention_mask_of_lowest() -> None:
    query = np.ones((1, 1, 2, 4), np.float32)
    lowest, other = (np.full((2, 2), x, np.float32) for x in (np.finfo(np.float32).min, -3.4e38))
    assert alone.run("Attention", query, query, query, lowest, opset=23).max() == 0
    assert alone.run("Attention", query, query, query, other, opset=23).min() == 1


def test_log_softmax_in_double() -> None:
    x = np.array([[1.0, np.nan, 2.0]])
    assert np.isfinite(alone.run("LogSoftmax", x)).any()
    assert np.isnan(alone.run("LogSoftmax", x.astype(np.float32))).all()


def nodes_loaded(node: onnx.NodeProto, feed: dict[str, np.ndarray], opset: int, at: Path) -> int:
    """How many nodes ONNX Runtime makes of one."""
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(at)
    options.log_severity_level = 4
    model = alone.model_of([node], feed, {"y": onnx.TensorProto.FLOAT}, opset)
    ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return len(onnx.load(at).graph.node)


def test_group_normalization(tmp_path: Path) -> None:
    """There is no kernel: it becomes a dozen nodes, one of them for each statistic."""
    feed = {
        "x": np.ones((4, 8, 64, 64), np.float32),
        "scale": np.ones(8, np.float32),
        "bias": np.zeros(8, np.float32),
    }
    group = helper.make_node("GroupNormalization", list(feed), ["y"], num_groups=2)
    instance = helper.make_node("InstanceNormalization", list(feed), ["y"])
    assert nodes_loaded(group, feed, 21, tmp_path / "group.onnx") > 10
    assert nodes_loaded(instance, feed, 21, tmp_path / "instance.onnx") == 1


def test_layer_normalization_of_nothing() -> None:
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        alone.run(
            "LayerNormalization", np.ones((2, 0), np.float32), np.ones(0, np.float32), axis=-1
        )


def recurrent(op: str, gates: int) -> np.ndarray:
    hidden, size = 2, 3
    return alone.run(
        op,
        np.ones((4, 1, size)),
        np.ones((1, gates * hidden, size)),
        np.ones((1, gates * hidden, hidden)),
        hidden_size=hidden,
    )


def test_lstm_in_double() -> None:
    with pytest.raises(Exception, match=r"does not support double|NOT_IMPLEMENTED"):
        recurrent("LSTM", 4)


def test_gru_in_double() -> None:
    with pytest.raises(Exception, match=r"does not support double|NOT_IMPLEMENTED"):
        recurrent("GRU", 3)


def test_rnn_in_double() -> None:
    with pytest.raises(Exception, match=MISSING):
        recurrent("RNN", 1)
