"""Dense layers over several axes by Einsum, as Keras writes them, become one product."""

from __future__ import annotations

import numpy as np
import onnx
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
