"""Dense layers over several axes by Einsum, as Keras writes them, become one product; two of many
short rows become products of rows."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest

import sardonyx
from tests.passes.test_old_opsets import run


@pytest.mark.parametrize(
    ("equation", "x", "w", "ops"),
    [
        ("abc,cde->abde", (8,), (8, 2, 4), ["MatMul", "Reshape"]),
        ("abcd,cde->abe", (2, 4), (2, 4, 8), ["Reshape", "MatMul"]),
        ("...cd,cdef->...ef", (2, 4), (2, 4, 3, 5), ["Reshape", "MatMul", "Reshape"]),
        ("abcd,dce->abe", (2, 4), (4, 2, 8), ["Einsum"]),
    ],
)
def test_dense_layers(
    equation: str, x: tuple[int, ...], w: tuple[int, ...], ops: list[str]
) -> None:
    sizes = ", ".join(str(size) for size in x)
    before = onnx.parser.parse_model(f"""
        <ir_version: 9, opset_import: ["" : 17]>
        graph (float[A, B, {sizes}] x) => (float y) {{ y = Einsum<equation = "{equation}">(x, w) }}
    """)
    before.graph.output[0].type.tensor_type.ClearField("shape")
    numbers = np.random.default_rng(0)
    before.graph.initializer.append(
        onnx.numpy_helper.from_array(numbers.standard_normal(w).astype(np.float32), "w")
    )
    after, _ = sardonyx.optimize(before)
    assert [node.op_type for node in after.graph.node] == ops
    for batch, length in ((1, 1), (3, 5), (2, 0)):
        feed = {"x": numbers.standard_normal((batch, length, *x)).astype(np.float32)}
        got, want = run(after, feed)[0], run(before, feed)[0]
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("biases", [("b, m", "c, p, r"), ("m, b", "r, p, c"), ("m, b", "p, c")])
@pytest.mark.parametrize("samples", [1, 3, 0])
def test_layers_of_many_short_rows_are_products_of_rows(
    biases: tuple[str, str], samples: int
) -> None:
    rng = np.random.default_rng(0)
    weights = {
        "v": rng.normal(size=(4, 6)), "b": rng.normal(size=6),
        "w": rng.normal(size=(6, 4)), "c": rng.normal(size=4),
    }  # fmt: skip
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 20]>
        g (float[n, 7, 9, 4] x, float[n, 7, 9, 4] r) => (float[n, 7, 9, 4] y) {{
            m = MatMul (x, v)
            a = Add ({biases[0]})
            g = Gelu <approximate = "tanh"> (a)
            p = MatMul (g, w)
            y = Sum ({biases[1]})
        }}"""
    )
    for name, values in weights.items():
        model.graph.initializer.append(
            onnx.numpy_helper.from_array(values.astype(np.float32), name)
        )
    made, _ = sardonyx.optimize(model)
    onnx.checker.check_model(made, full_check=True)
    nodes = [node.op_type for node in made.graph.node]
    assert nodes[:5] == ["Reshape", "Gemm", "Gelu", "Gemm", "Reshape"]
    feed = {k: rng.normal(size=(samples, 7, 9, 4)).astype(np.float32) for k in ("x", "r")}
    (before,), (after,) = run(model, feed), run(made, feed)
    np.testing.assert_allclose(before, after, rtol=1e-5, atol=1e-6)
