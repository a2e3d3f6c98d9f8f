"""Attention as libraries write it: with Einsum, with heads of two axes or merged into the batch, or
with one head of keys for all. It becomes one node of opset 23, and gives the same answers at other
sizes, also where it is decomposed again."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import parser

import sardonyx

# Queries, keys and values made of rows of 24, 12 or 4 numbers; scores; and what is made of weights.
FORMS = {
    "einsum": """
        q = Transpose <perm = [0, 2, 1, 3]> (rq)
        k = Transpose <perm = [0, 2, 1, 3]> (rk)
        v = Transpose <perm = [0, 2, 1, 3]> (rv)
        scores = Einsum <equation = "b h i d, b h j d -> b h i j"> (q, k)
        weights = Softmax <axis = -1> (hidden)
        seen = Einsum <equation = "b h i j, b h j d -> b h i d"> (weights, v)
        y = Transpose <perm = [0, 2, 1, 3]> (seen)""",
    "einsum, the length first": """
        scores = Einsum <equation = "bqhd,bkhd->bhqk"> (rq, rk)
        weights = Softmax <axis = -1> (hidden)
        y = Einsum <equation = "bhqk,bkhd->bqhd"> (weights, rv)""",
    "einsum, the keys first": """
        scores = Einsum <equation = "aecd,abcd->acbe"> (rk, rq)
        weights = Softmax <axis = -1> (hidden)
        y = Einsum <equation = "acbe,aecd->abcd"> (weights, rv)""",
    "einsum, one head": """
        q = Transpose <perm = [0, 2, 1, 3]> (rq)
        scores = Einsum <equation = "bhid,bjd->bhij"> (q, ok)
        weights = Softmax <axis = -1> (hidden)
        seen = Einsum <equation = "bhij,bjd->bhid"> (weights, ov)
        y = Transpose <perm = [0, 2, 1, 3]> (seen)""",
    "heads as batches": """
        hq = Transpose <perm = [0, 2, 1, 3]> (rq)
        q = Reshape (hq, counted)
        hk = Transpose <perm = [0, 2, 1, 3]> (rk)
        k = Reshape (hk, counted)
        hv = Transpose <perm = [0, 2, 1, 3]> (rv)
        v = Reshape (hv, counted)
        scores = Einsum <equation = "bid,bjd->bij"> (q, k)
        weights = Softmax <axis = -1> (hidden)
        seen = Einsum <equation = "bij,bjd->bid"> (weights, v)
        by_heads = Reshape (seen, uncounted)
        y = Transpose <perm = [0, 2, 1, 3]> (by_heads)""",
    "one head": """
        q = Transpose <perm = [0, 2, 1, 3]> (rq)
        eo = Unsqueeze (ok, one)
        k = Transpose <perm = [0, 1, 3, 2]> (eo)
        v = Unsqueeze (ov, one)
        scores = MatMul (q, k)
        weights = Softmax <axis = -1> (hidden)
        seen = MatMul (weights, v)
        y = Transpose <perm = [0, 2, 1, 3]> (seen)""",
    "two axes": """
        gq = Reshape (xq, two)
        q = Transpose <perm = [0, 2, 3, 1, 4]> (gq)
        gk = Transpose <perm = [0, 2, 1, 3]> (pk)
        ek = Unsqueeze (gk, second)
        k = Transpose <perm = [0, 1, 2, 4, 3]> (ek)
        gv = Transpose <perm = [0, 2, 1, 3]> (pv)
        v = Unsqueeze (gv, second)
        scores = MatMul (q, k)
        weights = Softmax <axis = -1> (hidden)
        seen = MatMul (weights, v)
        y = Transpose <perm = [0, 3, 1, 2, 4]> (seen)""",
    "two axes by einsum": """
        gq = Reshape (xq, two)
        q = Transpose <perm = [0, 2, 3, 1, 4]> (gq)
        k = Transpose <perm = [0, 2, 1, 3]> (pk)
        v = Transpose <perm = [0, 2, 1, 3]> (pv)
        scores = Einsum <equation = "bghnd,bgsd->bghns"> (q, k)
        weights = Softmax <axis = -1> (hidden)
        seen = Einsum <equation = "bghns,bgsd->bghnd"> (weights, v)
        y = Transpose <perm = [0, 3, 1, 2, 4]> (seen)""",
}
MASKS = {
    "all": "hidden = Mul (scores, root)",
    "padding": """
        scaled = Mul (scores, root)
        mask = Unsqueeze (keep, {axes})
        hidden = Where (mask, scaled, lowest)""",
}


def written(form: str, mask: str) -> onnx.ModelProto:
    axes = "twice" if "two axes" not in form else "thrice"
    body = FORMS[form].replace(
        "weights = Softmax", MASKS[mask].format(axes=axes) + "\n weights = Softmax"
    )
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[b, n, 24] xq, float[b, n, 24] xk, float[b, n, 24] xv, bool[b, n] keep)
      => (float[b, n, 24] out)
      <int64[4] apart = {{0, 0, 6, 4}}, int64[4] pairs = {{0, 0, 2, 4}}, int64[1] one = {{1}},
       int64[5] two = {{0, 0, 2, 3, 4}}, int64[1] second = {{2}}, int64[3] joined = {{0, 0, 24}},
       int64[2] twice = {{1, 2}}, int64[3] thrice = {{1, 2, 3}}, int64[2] parts = {{8, 16}},
       int64[1] any = {{-1}}, int64[1] six = {{6}}, int64[1] last = {{4}},
       int64[2] single = {{4, 20}}, float root = {{0.5}}, float lowest = {{-3e38}}>
    {{
        rq = Reshape (xq, apart)
        rk = Reshape (xk, apart)
        rv = Reshape (xv, apart)
        ok, rest0 = Split <axis = 2> (xk, single)
        ov, rest1 = Split <axis = 2> (xv, single)
        tk, rest2 = Split <axis = 2> (xk, parts)
        tv, rest3 = Split <axis = 2> (xv, parts)
        pk = Reshape (tk, pairs)
        pv = Reshape (tv, pairs)
        length = Shape <start = 1, end = 2> (xq)
        counted = Concat <axis = 0> (any, length, last)
        uncounted = Concat <axis = 0> (any, six, length, last)
        {body}
        out = Reshape (y, joined)
    }}"""
    model = parser.parse_model(text)
    onnx.checker.check_model(model)
    return model


@pytest.mark.parametrize(
    ("form", "mask"),
    # A mask for heads as batches is another one for each.
    [
        (form, mask)
        for form in FORMS
        for mask in MASKS
        if (form, mask) != ("heads as batches", "padding")
    ],
)
def test_one_node_and_the_same_answers(form: str, mask: str) -> None:
    before = written(form, mask)
    newer, _ = sardonyx.optimize(before, opset=23)
    operators = [node.op_type for node in newer.graph.node]
    assert operators.count("Attention") == 1
    assert not {"Einsum", "MatMul", "Transpose", "Reshape", "Softmax"} & set(operators)
    older, _ = sardonyx.optimize(before)
    assert "Einsum" not in [node.op_type for node in older.graph.node]
    for batch, length in ((2, 5), (1, 1), (3, 8)):
        random = np.random.default_rng(length)
        rows = {
            name: random.normal(size=(batch, length, 24)).astype(np.float32)
            for name in ("xq", "xk", "xv")
        }
        keep = random.random((batch, length)) < 0.7
        keep[:, 0] = True
        expected = run(before, rows, keep)
        for model in (newer, older):
            np.testing.assert_allclose(run(model, rows, keep), expected, rtol=1e-5, atol=1e-5)


def run(model: onnx.ModelProto, rows: dict[str, np.ndarray], keep: np.ndarray) -> np.ndarray:
    session = ort.InferenceSession(model.SerializeToString())
    answers = session.run(None, {**rows, "keep": keep})
    return np.asarray(answers[0])
