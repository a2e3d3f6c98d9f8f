"""A second run of the optimizer changes nothing: its result is a fixed point."""

from __future__ import annotations

import warnings
from pathlib import Path

import onnx
import pytest
from onnx.backend.test.case.node import collect_testcases

import sardonyx

# One of so many of onnx's own models of single operators, which are 1884.
EVERY = 12
# Decompositions for an older opset that are fused and decomposed again, into other nodes, and sizes
# that are known once a branch is taken.
KNOWN = ("local_window", "bidirectional_window", "affine_grid")


def node_models() -> list[tuple[str, onnx.ModelProto]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [(case.name, case.model) for case in collect_testcases(None)]
    kept = [case for case in cases if not any(name in case[0] for name in KNOWN)]
    composites = [case for case in kept if "_expanded" in case[0] or "attention" in case[0]]
    return kept[::EVERY] + composites[::EVERY]


def twice(source: Path) -> tuple[bytes, bytes]:
    first, second = source.with_suffix(".first.onnx"), source.with_suffix(".second.onnx")
    sardonyx.optimize(source, first)
    sardonyx.optimize(first, second)
    return first.read_bytes(), second.read_bytes()


def test_models_of_single_operators(tmp_path: Path) -> None:
    moved = []
    for name, model in node_models():
        path = tmp_path / "m.onnx"
        onnx.save(model, path)
        first, second = twice(path)
        if first != second:
            moved.append(name)
    assert moved == []


NORMALIZED = """
<ir_version: 3, opset_import: ["" : 9]>
graph (float[N, 4] x, float[4, 4] w) => (float[N, 2, 2] y)
<float[4, 4] w = {1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}> {
  h = MatMul(x, w)
  shape = Constant<value = int64[3] {-1, 2, 2}>()
  r = Relu(h)
  y = Reshape(r, shape)
}
"""

SIZES = """
<ir_version: 8, opset_import: ["" : 17]>
graph (float[N, 4] x) => (float[N, M] y)
<int64 zero = {0}, int64[1] first = {0}, int64[1] rest = {-1}, float half = {0.5}> {
  s = Shape(x)
  n = Gather(s, zero)
  n1 = Unsqueeze(n, first)
  t = Concat<axis = 0>(n1, rest)
  r = Reshape(x, t)
  a = Mul(r, half)
  b = Mul(a, half)
  y = LeakyRelu<alpha = 0.01>(b)
}
"""


@pytest.mark.parametrize("text", [NORMALIZED, SIZES])
def test_written_models(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    first, second = twice(path)
    assert first == second


def test_what_is_optimized_stays_as_it_is(tmp_path: Path) -> None:
    """Names and order of a file in which there is nothing to do are the file's."""
    text = SIZES.replace("s = Shape(x)", "unused = Abs(x) s = Shape(x)")
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    once, _ = sardonyx.optimize(path, tmp_path / "once.onnx")
    model = onnx.load(once)
    for node in model.graph.node:
        node.name = f"mine_{node.name}"
    onnx.save(model, once)
    _, report = sardonyx.optimize(once, tmp_path / "again.onnx")
    assert report.applied == ()
    again = onnx.load(tmp_path / "again.onnx")
    assert all(node.name.startswith("mine_") for node in again.graph.node)
