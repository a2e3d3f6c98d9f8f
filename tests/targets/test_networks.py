"""Layers of networks in ONNX Runtime alone: a test a rule."""

from __future__ import annotations

import statistics
import time

import numpy as np
import onnx
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


def seconds(nodes: list[onnx.NodeProto], feed: dict[str, np.ndarray], opset: int) -> float:
    session = alone.session_of(alone.model_of(nodes, feed, {"y": onnx.TensorProto.FLOAT}, opset))
    times = []
    for _ in range(12):
        start = time.perf_counter()
        session.run(None, feed)
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])


def test_group_normalization() -> None:
    """It has no kernel: what it is expanded to holds more nodes than InstanceNormalization does."""
    feed = {
        "x": np.ones((4, 8, 64, 64), np.float32),
        "scale": np.ones(8, np.float32),
        "bias": np.zeros(8, np.float32),
    }
    whole = helper.make_node("GroupNormalization", list(feed), ["y"], num_groups=2)
    shape = helper.make_node("Constant", [], ["s"], value_ints=[4, 2, -1])
    ones = helper.make_node("Constant", [], ["one"], value_floats=[1.0, 1.0])
    zeros = helper.make_node("Constant", [], ["zero"], value_floats=[0.0, 0.0])
    spelled = [
        shape,
        ones,
        zeros,
        helper.make_node("Constant", [], ["axes"], value_ints=[1, 2]),
        helper.make_node("Reshape", ["x", "s"], ["g"]),
        helper.make_node("InstanceNormalization", ["g", "one", "zero"], ["n"]),
        helper.make_node("Shape", ["x"], ["all"]),
        helper.make_node("Reshape", ["n", "all"], ["back"]),
        helper.make_node("Unsqueeze", ["scale", "axes"], ["s1"]),
        helper.make_node("Unsqueeze", ["bias", "axes"], ["b1"]),
        helper.make_node("Mul", ["back", "s1"], ["scaled"]),
        helper.make_node("Add", ["scaled", "b1"], ["y"]),
    ]
    assert seconds([whole], feed, 21) > seconds(spelled, feed, 21)


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
