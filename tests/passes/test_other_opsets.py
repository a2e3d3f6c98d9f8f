"""`sardonyx optimize --opset`: a model in the forms of another opset, with the same answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.harness.command import run_command

OPSETS = [13, 15, 17, 18, 20, 21, 23, 24]


def model(opset: int, nodes: list[onnx.NodeProto], constants: dict[str, np.ndarray]) -> bytes:
    graph = helper.make_graph(
        nodes,
        "model",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", "columns"])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    imports = [helper.make_opsetid("", opset)]
    made = helper.make_model(
        graph, opset_imports=imports, ir_version=helper.find_min_ir_version_for(imports)
    )
    return made.SerializeToString()


def older() -> bytes:
    """Opset 13: axes as attributes, pieces without a number, Softmax beside them."""
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["m"], axes=[-1], keepdims=1),
        helper.make_node("Sub", ["x", "m"], ["c"]),
        helper.make_node("Split", ["c"], ["a", "b"], axis=2),
        helper.make_node("Mul", ["a", "b"], ["p"]),
        helper.make_node("ReduceMax", ["p"], ["q"], axes=[1], keepdims=0),
        helper.make_node("Softmax", ["q"], ["y"], axis=-1),
    ]
    return model(13, nodes, {})


def newer() -> bytes:
    """Opset 20: LayerNormalization, Gelu, axes as inputs, a part of a shape."""
    nodes = [
        helper.make_node("LayerNormalization", ["x", "scale", "bias"], ["n"], axis=-1),
        helper.make_node("Gelu", ["n"], ["g"], approximate="tanh"),
        helper.make_node("Pad", ["g", "pads", "", "axes"], ["w"]),
        helper.make_node("Shape", ["w"], ["s"], start=0, end=1),
        helper.make_node("Concat", ["s", "rest"], ["to"], axis=0),
        helper.make_node("Reshape", ["w", "to"], ["r"]),
        helper.make_node("ReduceSum", ["r", "axes"], ["y"], keepdims=0),
    ]
    constants = {
        "scale": np.linspace(0.5, 2, 6, dtype=np.float32),
        "bias": np.linspace(-1, 1, 6, dtype=np.float32),
        "pads": np.array([1, 2]),
        "axes": np.array([1]),
        "rest": np.array([-1, 6]),
    }
    return model(20, nodes, constants)


def answer(source: bytes | Path, x: np.ndarray) -> np.ndarray:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    given = source if isinstance(source, bytes) else str(source)
    session = ort.InferenceSession(given, options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("make", [older, newer])
def test_the_answers_stay(make: Callable[[], bytes], opset: int, tmp_path: Path) -> None:
    source = make()
    (tmp_path / "in.onnx").write_bytes(source)
    ended = run_command(
        "optimize", tmp_path / "in.onnx", "-o", tmp_path / "out.onnx", "--opset", str(opset)
    )
    assert ended.returncode == 0, ended.stderr
    made = onnx.load(tmp_path / "out.onnx")
    onnx.checker.check_model(made, full_check=True)
    assert [o.version for o in made.opset_import if not o.domain] == [opset]
    x = np.random.default_rng(0).normal(size=(3, 4, 6)).astype(np.float32)
    np.testing.assert_allclose(
        answer(tmp_path / "out.onnx", x), answer(source, x), rtol=2e-5, atol=1e-5
    )


def test_the_model_keeps_its_opset_unless_told(tmp_path: Path) -> None:
    (tmp_path / "in.onnx").write_bytes(newer())
    assert (
        run_command("optimize", tmp_path / "in.onnx", "-o", tmp_path / "out.onnx").returncode == 0
    )
    made = onnx.load(tmp_path / "out.onnx")
    assert [o.version for o in made.opset_import if not o.domain] == [20]
    assert "LayerNormalization" in [node.op_type for node in made.graph.node]


def test_what_an_opset_cannot_say_is_refused(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("ImageDecoder", ["x"], ["y"])],
        "model",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, [None, None, None])],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    (tmp_path / "in.onnx").write_bytes(made.SerializeToString())
    out = tmp_path / "out.onnx"
    ended = run_command("optimize", tmp_path / "in.onnx", "-o", out, "--opset", "17")
    assert ended.returncode == 1
    assert "SX1504" in ended.stderr
    assert not out.exists()


def test_a_target_mends_somebody_elses_model(tmp_path: Path) -> None:
    """Max of int64 sees 32 bits in ONNX Runtime; after `optimize` it sees all."""
    graph = helper.make_graph(
        [helper.make_node("Max", ["a", "b"], ["y"])],
        "model",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["n"]) for n in "ab"],
        [helper.make_tensor_value_info("y", TensorProto.INT64, ["n"])],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    (tmp_path / "in.onnx").write_bytes(made.SerializeToString())
    for runtime, kinds in (("onnxruntime", ["Greater", "Where"]), ("standard", ["Max"])):
        out = tmp_path / f"{runtime}.onnx"
        words = ["optimize", tmp_path / "in.onnx", "-o", out, "--runtime", runtime]
        assert run_command(*words).returncode == 0
        assert [node.op_type for node in onnx.load(out).graph.node] == kinds
