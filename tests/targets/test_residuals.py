"""Sums that are normalized, in ONNX Runtime alone: one test for each rule."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnx import helper

import sardonyx
from tests.harness import assert_exports
from tests.targets import alone


def normalized(op: str) -> tuple[bytes, dict[str, np.ndarray]]:
    """LayerNormalization of the sum of two, which `op` adds."""
    rng = np.random.default_rng(0)
    feed = {name: rng.standard_normal((1, 256, 768)).astype(np.float32) for name in "ab"}
    feed["scale"] = np.ones(768, np.float32)
    nodes = [
        helper.make_node(op, ["a", "b"], ["sum"]),
        helper.make_node("LayerNormalization", ["sum", "scale", "scale"], ["y"], axis=-1),
    ]
    model = onnx.load_from_string(alone.model_of(nodes, feed, {"y": 1}))
    # The optimizer needs static sizes.
    for value in model.graph.input:
        del value.type.tensor_type.shape.dim[:]
        for size in feed[value.name].shape:
            value.type.tensor_type.shape.dim.add().dim_value = size
    return model.SerializeToString(), feed


def loaded(model: bytes, at: Path) -> list[str]:
    """The operators that ONNX Runtime makes of a model."""
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(at)
    options.log_severity_level = 4
    ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return [node.op_type for node in onnx.load(at).graph.node]


def test_normalized_sum(tmp_path: Path) -> None:
    (fused, feed), (kept, _) = normalized("Add"), normalized("Sum")
    assert loaded(fused, tmp_path / "fused.onnx") == ["SkipLayerNormalization"]
    assert loaded(kept, tmp_path / "kept.onnx") == ["Sum", "LayerNormalization"]
    sessions = [alone.session_of(fused), alone.session_of(kept)]
    least = [np.inf, np.inf]
    for _ in range(20):
        for i, session in enumerate(sessions):
            began = time.perf_counter()
            session.run(None, feed)
            least[i] = min(least[i], time.perf_counter() - began)
    assert least[0] > 1.5 * least[1]


class Residual(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.LayerNorm(8), torch.nn.LayerNorm(8)
        self.inner = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """A sum that is normalized and read again, and one that holds a sum of two."""
        y = x + self.inner(x).tanh()
        return self.second(self.inner(self.first(y)) + y)


def test_sums_are_those_of_the_program() -> None:
    batch = torch.export.Dim("batch")
    args = (torch.randn(2, 3, 8),)
    assert_exports(Residual(), args, dynamic_shapes=({0: batch},))
    for optimize in (True, False):
        program = sardonyx.export(Residual(), args, optimize=optimize)
        nodes = program.model_proto.graph.node
        assert [len(node.input) for node in nodes if node.op_type == "Sum"] == [2, 3]
    program = sardonyx.export(Residual(), args, target_runtime="standard")
    assert "Sum" not in [node.op_type for node in program.model_proto.graph.node]
