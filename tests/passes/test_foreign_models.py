"""Third-party models through `sardonyx optimize`: the same answers under the same names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

from tests.harness.command import run_command

UNKNOWN_SHAPES = """
<ir_version: 8, opset_import: ["" : 17]>
graph (float[N, M] x) => (float y, float same)
<float[2, 3] w = {1, 2, 3, 4, 5, 6}, int64[1] start = {0}, int64[1] middle = {1},
 int64[1] end = {9}, int64[1] axis = {1}> {
  same = Identity(x)
  copy = Identity(x)
  t = Transpose<perm = [1, 0]>(w)
  rows = MatMul(copy, t)
  low = Slice(rows, start, middle, axis)
  high = Slice(rows, middle, end, axis)
  z = Add(low, high)
  y = Identity(z)
}
"""

BRANCHES = """
<ir_version: 8, opset_import: ["" : 17]>
graph (float[2, 3] x, bool flag) => (float[2, 3] y) {
  before = Identity(x)
  unused = Exp(x)
  picked = If (flag) <
    then_branch = then_graph () => (float[2, 3] a) { a = Identity(before) },
    else_branch = else_graph () => (float[2, 3] c) { b = Neg(before) c = Identity(b) }
  >
  y = Identity(picked)
}
"""

FUNCTIONS = """
<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
graph (float[2, 3] x) => (float[2, 3] y) {
  z = own.twice(x)
  y = Identity(z)
}
<domain: "own", opset_import: ["" : 17]>
twice (a) => (b) {
  c = Identity(a)
  b = Add(c, c)
}
"""

# As tools leave it that put casts in at the end.
OUT_OF_ORDER = """
<ir_version: 8, opset_import: ["" : 17]>
graph (float[2, 3] x, bool flag) => (float[2, 3] y) {
  a = Add(half, half)
  picked = If (flag) <
    then_branch = then_graph () => (float16[2, 3] b) { b = Neg(late) },
    else_branch = else_graph () => (float16[2, 3] c) { c = Abs(late) }
  >
  y = Cast<to = 1>(picked)
  half = Cast<to = 10>(x)
  late = Identity(a)
}
"""

EQUAL_WEIGHTS = """
<ir_version: 8, opset_import: ["" : 17]>
graph (float[N, 3] x) => (float[N, 3] y)
<float[3] a = {1, 2, 3}, float[3] b = {1, 2, 3}, float[3] c = {1, 2, 4}> {
  p = Add(x, a)
  q = Add(b, x)
  r = Add(x, c)
  s = Mul(p, q)
  y = Mul(s, r)
}
"""


@pytest.mark.parametrize(
    ("text", "inputs", "fewer"),
    [
        (EQUAL_WEIGHTS, {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, 1),
        (UNKNOWN_SHAPES, {"x": np.arange(12, dtype=np.float32).reshape(4, 3)}, 3),
        (BRANCHES, {"x": np.ones((2, 3), np.float32), "flag": np.array(False)}, 3),
        (BRANCHES, {"x": np.ones((2, 3), np.float32), "flag": np.array(True)}, 3),
        (FUNCTIONS, {"x": np.ones((2, 3), np.float32)}, 1),
        (OUT_OF_ORDER, {"x": np.ones((2, 3), np.float32), "flag": np.array(True)}, 1),
        (OUT_OF_ORDER, {"x": np.ones((2, 3), np.float32), "flag": np.array(False)}, 1),
    ],
)
def test_answers_and_names_stay(
    text: str, inputs: dict[str, np.ndarray], fewer: int, tmp_path: Path
) -> None:
    model = onnx.parser.parse_model(text)
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(model, before)
    done = run_command("optimize", before, "-o", after)
    assert done.returncode == 0, done.stderr
    optimized = onnx.load(after)
    onnx.checker.check_model(optimized)
    assert len(model.graph.node) - len(optimized.graph.node) == fewer
    assert [v.name for v in optimized.graph.output] == [v.name for v in model.graph.output]
    for expected, got in zip(_run(before, inputs), _run(after, inputs), strict=True):
        np.testing.assert_array_equal(got, expected)


def _run(path: Path, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return list(session.run(None, inputs))
