"""`--record-rules`: nodes name the rules that made or changed them, and nothing else differs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

import sardonyx
from tests.harness.command import run_command

KEY = "sardonyx.rules"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A convolution with a batch norm after it, and x * sigmoid(x), which is Swish."""
    weights = [numpy_helper.from_array(np.ones((4, 3, 1, 1), np.float32), "w")]
    for name in ("scale", "bias", "mean", "var"):
        weights.append(numpy_helper.from_array(np.full(4, 0.5, np.float32), name))
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
        helper.make_node("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["n"]),
        helper.make_node("Sigmoid", ["n"], ["s"], name="gate"),
        helper.make_node("Mul", ["n", "s"], ["m"], name="product"),
        helper.make_node("Abs", ["m"], ["y"], name="abs"),
    ]
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", channels, 8, 8])
        for name, channels in (("x", 3), ("y", 4))
    ]
    graph = helper.make_graph(nodes, "model", values[:1], values[1:], weights)
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)]), path)
    return path


def optimized(model: Path, *words: str) -> onnx.ModelProto:
    path = model.with_name("optimized.onnx")
    assert run_command("optimize", model, "-o", path, *words).returncode == 0
    return onnx.load(path)


def rules(model: onnx.ModelProto) -> dict[str, str]:
    return {
        node.op_type: entry.value
        for node in model.graph.node
        for entry in node.metadata_props
        if entry.key == KEY
    }


def test_nodes_name_their_rules(model: Path) -> None:
    found = rules(optimized(model, "--record-rules", "--runtime", "standard"))
    assert found["Conv"] == "fold-batch-norm"
    assert "raise-swish" in found["Swish"].split(", ")
    assert "Abs" not in found


def test_nothing_else_differs(model: Path) -> None:
    without = optimized(model)
    assert rules(without) == {}
    recorded = optimized(model, "--record-rules")
    for node in recorded.graph.node:
        for entry in [each for each in node.metadata_props if each.key == KEY]:
            node.metadata_props.remove(entry)
    assert recorded == without


def test_the_page_has_them(model: Path, tmp_path: Path) -> None:
    optimized(model, "--record-rules")
    page = tmp_path / "page.html"
    assert run_command("inspect", tmp_path / "optimized.onnx", "--html", page).returncode == 0
    assert '"fold-batch-norm"' in page.read_text(encoding="utf-8")
    optimized(model)
    assert run_command("inspect", tmp_path / "optimized.onnx", "--html", page).returncode == 0
    assert "fold-batch-norm" not in page.read_text(encoding="utf-8")


def test_of_programs(tmp_path: Path) -> None:
    program = Path(__file__).parents[1] / "fuzz" / "corpus" / "pt2" / "small"
    first, second = tmp_path / "a.onnx", tmp_path / "b.onnx"
    assert run_command("convert", program, "-o", first).returncode == 0
    assert run_command("convert", program, "-o", second, "--record-rules").returncode == 0
    assert rules(onnx.load(first)) == {}
    assert len(onnx.load(first).graph.node) == len(onnx.load(second).graph.node)


class Gated(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x)


def test_in_python(model: Path) -> None:
    options = {"runtime": "standard", "record_rules": True}
    found = rules(sardonyx.optimize(model, **options).model.model_proto)
    assert found["Conv"] == "fold-batch-norm"
    assert rules(sardonyx.optimize(model, runtime="standard").model.model_proto) == {}


def test_of_exports() -> None:
    settings = {"opset_version": 24, "target_runtime": "standard"}
    exported = sardonyx.export(Gated(), (torch.ones(2, 3),), record_rules=True, **settings)
    assert "raise-swish" in rules(exported.model_proto)["Swish"]
    exported = sardonyx.export(Gated(), (torch.ones(2, 3),), **settings)
    assert rules(exported.model_proto) == {}
