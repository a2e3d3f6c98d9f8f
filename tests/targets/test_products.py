"""Products in ONNX Runtime alone: a test a rule."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

CRASH = """
import numpy as np, onnx, onnxruntime
from onnx import helper, numpy_helper
half = onnx.TensorProto.FLOAT16
graph = helper.make_graph(
    [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        helper.make_node("MatMul", ["t", "w"], ["y"]),
    ],
    "alone",
    [helper.make_tensor_value_info("x", half, [2, 3, 4])],
    [helper.make_tensor_value_info("y", half, [3, 2, 5])],
    [numpy_helper.from_array(np.ones((4, 5), np.float16), "w")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
"""


def test_transposed_half_product() -> None:
    loaded = subprocess.run([sys.executable, "-c", CRASH], capture_output=True, check=False)
    assert loaded.returncode != 0


def quantized(
    first: np.ndarray | None, weight: np.ndarray, scale: np.ndarray, axis: int
) -> tuple[np.ndarray, np.ndarray]:
    """What ONNX Runtime gives for x @ dequantized weight, with and without its optimizer."""
    import onnxruntime as ort

    given = np.random.default_rng(0).normal(size=(8, weight.shape[0])).astype(np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale", "zero"], ["real"], axis=axis),
        helper.make_node("MatMul", ["left", "real"], ["y"]),
    ]
    zero = np.zeros(scale.shape, weight.dtype)
    constants = {"w": weight, "scale": scale, "zero": zero}
    if first is None:
        nodes.insert(0, helper.make_node("Identity", ["x"], ["left"]))
    else:
        constants |= {"q_scale": np.float32(0.02), "q_zero": np.asarray(128, first.dtype)}
        nodes.insert(0, helper.make_node("QuantizeLinear", ["x", "q_scale", "q_zero"], ["q"]))
        nodes.insert(1, helper.make_node("DequantizeLinear", ["q", "q_scale", "q_zero"], ["left"]))
    graph = helper.make_graph(
        nodes,
        "alone",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, list(given.shape))],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    results = []
    for level in (
        ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
        ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    ):
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        options.log_severity_level = 4
        session = ort.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        results.append(session.run(None, {"x": given})[0])
    return results[0], results[1]


def weight_of(dtype: type, size: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.random.default_rng(1).integers(info.min, info.max, (size, size)).astype(dtype)


def error(got: np.ndarray, want: np.ndarray) -> float:
    return float(np.abs(got - want).max() / np.abs(want).max())


def test_scales_of_another_axis() -> None:
    """Beside a dequantized factor, scales of the rows count as scales of the columns."""
    scale = np.linspace(0.001, 0.1, 16).astype(np.float32)
    got, want = quantized(np.zeros(1, np.uint8), weight_of(np.int8, 16), scale, axis=0)
    assert error(got, want) > 0.05


def test_weights_beside_real_numbers() -> None:
    """The real numbers are rounded to 8 bits."""
    scale = np.linspace(0.001, 0.1, 32).astype(np.float32)
    got, want = quantized(None, weight_of(np.int8, 32), scale, axis=1)
    assert error(got, want) > 1e-4


def test_signed_factor_of_integers() -> None:
    """Sums of uint8 times int8 saturate at 16 bits on x86 without VNNI."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    if "avx512_vnni" in flags or "avx_vnni" in flags:
        pytest.skip("this processor adds up in 32 bits")
    import onnxruntime as ort

    q = np.full((1, 8), 255, np.uint8)
    w = np.full((8, 4), 127, np.int8)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["q", "w"], ["y"])],
        "alone",
        [helper.make_tensor_value_info("q", onnx.TensorProto.UINT8, [1, 8])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.INT32, [1, 4])],
        [numpy_helper.from_array(w, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    exact = q.astype(np.int32) @ w.astype(np.int32)
    assert (session.run(None, {"q": q})[0] != exact).any()


def test_signed_factor_beside_unsigned() -> None:
    """Products of dequantized factors become those of their integers."""
    test_signed_factor_of_integers()
