"""The tables of the targets: each row has a test that shows its fault, and the page is fresh."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
import torch

import sardonyx
from sardonyx import _native

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def tests_here() -> set[str]:
    pattern = re.compile(r"^def (test_\w+)", re.MULTILINE)
    return {name for file in HERE.glob("test_*.py") for name in pattern.findall(file.read_text())}


def test_every_row_has_a_test_of_its_name() -> None:
    tests = tests_here()
    rows = {row["name"] for target in _native.target_tables() for row in target["rules"]}
    assert rows
    missing = [name for name in sorted(rows) if "test_" + name.replace("-", "_") not in tests]
    assert missing == []


def test_rows_say_what_they_are_there_for() -> None:
    for target in _native.target_tables():
        names = [row["name"] for row in target["rules"]]
        assert len(names) == len(set(names)), target["name"]
        for row in target["rules"]:
            assert row["why"], row["name"]
            assert row["since"], row["name"]


def test_names_are_those_that_users_give() -> None:
    assert _native.target_names() == [target["name"] for target in _native.target_tables()]
    assert _native.target_names()[0] == "onnxruntime"


def test_the_page_is_made_of_the_tables() -> None:
    subprocess.run(
        [sys.executable, ROOT / "tools" / "generate_targets.py", "--check"], check=True, cwd=ROOT
    )


class Everything(torch.nn.Module):
    """What ONNX Runtime has rows for, a little of each."""

    def forward(self, x: torch.Tensor, n: torch.Tensor) -> tuple[torch.Tensor, ...]:
        wide = x.double()
        return (
            torch.maximum(n, n.flip(0)),
            n.amax(),
            torch.nn.functional.conv1d(wide, wide[:1]),
            torch.nn.functional.avg_pool1d(wide, 2),
            x.half().scatter_add(2, n.expand(2, 3, 4) % 4, x.half()),
        )


@pytest.mark.parametrize("opset", [18, 20, 23])
def test_standard_models_hold_no_workaround(opset: int) -> None:
    """Each operator stands once, as the program has it, and no type is another's stand-in."""
    args = (torch.randn(2, 3, 4), torch.arange(4))
    program = sardonyx.export(
        Everything(), args, target_runtime="standard", opset_version=opset, optimize=False
    )
    model: onnx.ModelProto = program.model_proto
    kinds = [node.op_type for node in model.graph.node]
    for kind in ("Max", "ReduceMax", "Conv", "AveragePool", "ScatterElements"):
        assert kinds.count(kind) == 1, kinds
    wide = {v.name: v.type.tensor_type.elem_type for v in model.graph.value_info}
    wide |= {v.name: v.type.tensor_type.elem_type for v in model.graph.output}
    convolution = next(node for node in model.graph.node if node.op_type == "Conv")
    assert wide[convolution.output[0]] == onnx.TensorProto.DOUBLE
    scatter = next(node for node in model.graph.node if node.op_type == "ScatterElements")
    assert wide[scatter.output[0]] == onnx.TensorProto.FLOAT16
    assert all(not node.domain for node in model.graph.node)
    onnx.checker.check_model(model, full_check=True)
