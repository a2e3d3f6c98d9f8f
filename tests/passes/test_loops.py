"""What does not change from run to run is computed before a loop, and nothing that could fail."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.checker
import onnx.parser
import onnxruntime
import pytest

import sardonyx

# In the body: `s` is carried, `w` and `v` are of the graph around it.
BODIES = {
    "a-weight-of-every-run": ("t = Tanh(w) p = Mul(t, w) r = MatMul(s, p)", ["MatMul"]),
    "handed-out": ("r = Relu(v)", ["Relu"]),
    "of-unknown-sizes": ("a = Add(v, other) q = ReduceSum<keepdims = 0>(a) r = Add(s, q)", None),
    "of-the-run": ("f = Cast<to = 1>(i) e = Exp(v) g = Mul(f, e) r = Add(s, g)", None),
    "inside-a-choice": (
        (
            "y = Sigmoid(w) r = If (c) < then_branch = yes () => (float[2, 2] a) "
            "{ z = Neg(w) k = Mul(z, y) a = MatMul(s, k) }, "
            "else_branch = no () => (float[2, 2] b) { b = Exp(s) } >"
        ),
        ["If"],
    ),
}


def model(body: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f"""
        <ir_version: 9, opset_import: ["" : 18]>
        graph (int64 n, bool c, float[2, 2] x, float[2, 2] w, float[2, 2] v, float[m, 2] other)
          => (float[2, 2] y)
        <bool on = {{1}}> {{
          y = Loop (n, on, x) <body = body (int64 i, bool go, float[2, 2] s)
            => (bool still, float[2, 2] r) {{ still = Identity(go) {body} }}>
        }}
        """
    )


@pytest.mark.parametrize("name", BODIES)
def test_the_same_for_every_count(name: str) -> None:
    body, left = BODIES[name]
    before = model(body)
    after, _ = sardonyx.optimize(before)
    onnx.checker.check_model(after, full_check=True)
    loop = next(node for node in after.graph.node if node.op_type == "Loop")
    inside = [node.op_type for node in loop.attribute[0].g.node if node.op_type != "Identity"]
    assert left is None or inside == left
    rng = np.random.default_rng(0)
    feed = {k: rng.normal(size=(2, 2)).astype(np.float32) for k in ("x", "w", "v", "other")}
    if name == "of-unknown-sizes":
        assert "Add" in inside
        # It would fail, if it were not for a loop that does not run.
        bad = {**feed, "other": np.ones((3, 2), np.float32), "n": np.array(0), "c": np.array(True)}
        np.testing.assert_array_equal(run(after, bad), bad["x"])
    for count in (0, 1, 3):
        for choice in (True, False):
            given = {**feed, "n": np.array(count), "c": np.array(choice)}
            np.testing.assert_allclose(run(after, given), run(before, given), rtol=1e-5)


def run(given: onnx.ModelProto, feed: dict[str, np.ndarray]) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(given.SerializeToString(), options)
    names = {each.name for each in session.get_inputs()}
    result: np.ndarray = session.run(None, {k: v for k, v in feed.items() if k in names})[0]
    return result


def test_bodies_whose_inputs_have_no_types() -> None:
    """As tf2onnx writes recurrent layers: what is cut in the body is known by what is scanned."""
    before = onnx.parser.parse_model("""
        <ir_version: 7, opset_import: ["" : 13]>
        graph (float[n, s, 4] x, float[n, 2] h) => (float[n, 2] last, float[s, n, 2] all) {
          t = Transpose<perm = [1, 0, 2]>(x)
          last, all = Scan<num_scan_inputs = 1, body = body (state, now) => (next, out) {
            a, b = Split<axis = 1>(now)
            p = Mul(state, a)
            next = Add(p, b)
            out = Identity(next)
          }>(h, t)
        }
    """)
    after, _ = sardonyx.optimize(before)
    onnx.checker.check_model(after)
    rng = np.random.default_rng(0)
    for n, s in ((2, 3), (1, 1)):
        feed = {
            "x": rng.normal(size=(n, s, 4)).astype(np.float32),
            "h": rng.normal(size=(n, 2)).astype(np.float32),
        }
        np.testing.assert_array_equal(run(after, feed), run(before, feed))
