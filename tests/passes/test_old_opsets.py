"""Models of opsets 9 to 12, which keep theirs, are simplified as newer ones are."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest

import sardonyx

LAYER = """
  shape = Shape(x)
  n = Gather<axis = 0>(shape, zero)
  narrow = Cast<to = 6>(n)
  wide = Cast<to = 7>(narrow)
  rows = Unsqueeze<axes = [0]>(wide)
  target = Concat<axis = 0>(rows, rest)
  flat = Reshape(x, target)
  m = ReduceMean<axes = [-1]>(flat)
  d = Sub(flat, m)
  p = Mul(d, d)
  v = ReduceMean<axes = [-1]>(p)
  e = Add(v, epsilon)
  r = Sqrt(e)
  q = Div(d, r)
  t = Mul(q, w)
  y = Add(t, w)
"""
# Bodies, operators that are left at the model's own opset, and those at opset 23.
MODELS = {
    "normalized": (LAYER, None, "Reshape LayerNormalization"),
    "pieces": (
        """
        a, b = Split<axis = 2, split = [2, 4]>(x)
        s = ReduceSum<axes = [1], keepdims = 0>(b)
        c = Unsqueeze<axes = [1]>(s)
        d = Squeeze<axes = [1]>(c)
        z = Dropout(d)
        y = Identity(z)
        """,
        "Split ReduceSum",
        "Split ReduceSum",
    ),
    "softmax of the last axis": ("y = Softmax<axis = 2>(x)", "Softmax", "Softmax"),
    "softmax of all axes": ("y = Softmax<axis = 1>(x)", None, None),
    "softmax of one axis": (
        (
            "u = Transpose<perm = [0, 2, 1]>(x) s = Softmax<axis = -1>(u) "
            "y = Transpose<perm = [0, 2, 1]>(s)"
        ),
        None,
        None,
    ),
    "log of softmax": ("s = Softmax<axis = 2>(x) y = Log(s)", "LogSoftmax", "LogSoftmax"),
    "at most": ("c = Clip(x, low) h = Less(c, x) k = Not(h) y = Where(k, x, c)", None, None),
}


def model(name: str, opset: int) -> onnx.ModelProto:
    made = onnx.parser.parse_model(f"""
        <ir_version: 6, opset_import: ["" : {opset}]>
        graph (float[N, 4, 6] x) => (float y)
        <int64 zero = {{0}}, int64[1] rest = {{-1}}, float epsilon = {{0.5}}, float low = {{0}},
         float[24] w = {{{", ".join(str(i / 8 + 0.5) for i in range(24))}}}> {{ {MODELS[name][0]} }}
    """)
    made.graph.output[0].type.tensor_type.ClearField("shape")
    return made


def run(given: onnx.ModelProto, feed: dict[str, Any]) -> list[Any]:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    found: list[Any] = ort.InferenceSession(given.SerializeToString(), options).run(None, feed)
    return found


@pytest.mark.parametrize("runtime", [None, "standard"])
@pytest.mark.parametrize("opset", [11, 12])
@pytest.mark.parametrize("name", MODELS)
def test_simplified_in_their_opset(name: str, opset: int, runtime: str | None) -> None:
    before = model(name, opset)
    after, _ = sardonyx.optimize(before, runtime=runtime)
    assert [(each.domain, each.version) for each in after.opset_import] == [("", opset)]
    newer, _ = sardonyx.optimize(before, opset=23)
    for made, wanted in ((after, MODELS[name][1]), (newer, MODELS[name][2])):
        if wanted is not None:
            assert " ".join(node.op_type for node in made.graph.node) == wanted
    # Softmax of all axes at once is one operator in these opsets alone.
    assert len(after.graph.node) <= len(before.graph.node)
    for batch in (1, 3):
        x = np.random.default_rng(0).standard_normal((batch, 4, 6), np.float32)
        for made in (after, newer):
            for got, want in zip(run(made, {"x": x}), run(before, {"x": x}), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


SCALED = """
<ir_version: 6, opset_import: ["" : 11]>
graph (float[N, 2, H, W] x) => (float[N, 2, A, B] y)
<int64 two = {{2}}, int64 three = {{3}}, float times = {{{times}}}, float[0] none = {{}},
 int64[1] from = {{0}}, int64[1] to = {{2}}> {{
  s = Shape(x)
  h = Gather<axis = 0>(s, two)
  w = Gather<axis = 0>(s, three)
  hf = Cast<to = 1>(h)
  wf = Cast<to = 1>(w)
  hm = Mul(hf, times)
  wm = Mul(wf, times)
  hr = Floor(hm)
  wr = Floor(wm)
  hi = Cast<to = 7>(hr)
  wi = Cast<to = 7>(wr)
  hu = Unsqueeze<axes = [0]>(hi)
  wu = Unsqueeze<axes = [0]>(wi)
  batch = Slice(s, from, to, from)
  size = Concat<axis = 0>(batch, hu, wu)
  y = Resize<mode = "{mode}", coordinate_transformation_mode = "{places}"{rounded}>
    (x, none, none, size)
}}
"""


@pytest.mark.parametrize("times", [2.0, 3.0, 0.5, 1.3])
@pytest.mark.parametrize(("mode", "places"), [("nearest", "asymmetric"), ("linear", "half_pixel")])
def test_images_scaled_by_a_number(times: float, mode: str, places: str) -> None:
    rounded = ', nearest_mode = "floor"' if mode == "nearest" else ""
    before = onnx.parser.parse_model(
        SCALED.format(times=times, mode=mode, places=places, rounded=rounded)
    )
    after, _ = sardonyx.optimize(before)
    operators = [node.op_type for node in after.graph.node]
    assert (operators == ["Resize"]) == (times >= 2)
    assert ("Floor" in operators) == (times == 1.3)
    for shape in ((1, 2, 4, 6), (2, 2, 5, 3)):
        x = np.random.default_rng(0).standard_normal(shape, np.float32)
        (got,), (want,) = (run(each, {"x": x}) for each in (after, before))
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


# Operators whose form changed with opset 10 or 11, and what is left of them.
OLD_FORMS = {
    "bounds": ("c = Clip<min = 0.0>(x) y = Clip<max = 1.5>(c)", (9, 10), "Clip"),
    "a bound": ("y = Clip<max = 0.5>(x)", (9, 10), "Clip"),
    "borders": ("y = Pad<pads = [0, 0, 1, 0, 0, 2], value = 3.0>(x)", (9, 10), "Pad"),
    "cut twice": (
        (
            "a = Slice<axes = [1], starts = [1], ends = [4]>(x) "
            "y = Slice<axes = [2], starts = [0], ends = [-1]>(a)"
        ),
        (9,),
        "Slice",
    ),
    "the greatest": (
        "i = Identity(x) v, w = TopK<axis = 2, k = 2>(i) y = Identity(v)",
        (9,),
        "TopK",
    ),
    "scaled": (
        (
            'u = Unsqueeze<axes = [0]>(x) s = Upsample<mode = "linear">(u, scales) '
            "y = Squeeze<axes = [0]>(s)"
        ),
        (9,),
        "Unsqueeze Upsample Squeeze",
    ),
    "softmax of two axes": ("i = Identity(x) y = Softmax<axis = 1>(i)", (9, 10), "Softmax"),
    "counted from behind": ("y = ReduceMean<axes = [-1], keepdims = 0>(x)", (9, 10), "ReduceMean"),
    "pixels shuffled": (
        (
            "r = Reshape(x, apart) t = Transpose<perm = [0, 1, 4, 2, 5, 3]>(r) "
            "y = Reshape(t, together)"
        ),
        (9, 10),
        "Reshape Transpose Reshape",
    ),
    # What rules make of it is in newer opsets alone.
    "kept": ("i = Identity(x) g = Less(i, x) n = Not(g) y = Cast<to = 1>(n)", (9, 10), None),
}


@pytest.mark.parametrize(
    ("name", "opset"), [(name, opset) for name in OLD_FORMS for opset in OLD_FORMS[name][1]]
)
def test_operators_keep_their_old_forms(name: str, opset: int) -> None:
    body, _, left = OLD_FORMS[name]
    before = onnx.parser.parse_model(f"""
        <ir_version: 4, opset_import: ["" : {opset}]>
        graph (float[N, 4, 6] x) => (float y)
        <float[4] scales = {{1, 1, 1, 2}}, int64[6] apart = {{-1, 1, 2, 2, 2, 3}},
         int64[4] together = {{-1, 1, 4, 6}}> {{ {body} }}
    """)
    before.graph.output[0].type.tensor_type.ClearField("shape")
    after, _ = sardonyx.optimize(before)
    assert [(each.domain, each.version) for each in after.opset_import] == [("", opset)]
    onnx.checker.check_model(after)
    if left is not None:
        assert " ".join(node.op_type for node in after.graph.node) == left
    for batch in (1, 3):
        x = np.random.default_rng(0).standard_normal((batch, 4, 6), np.float32)
        for got, want in zip(run(after, {"x": x}), run(before, {"x": x}), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
