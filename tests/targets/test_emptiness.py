"""Tensors that hold nothing: a test a rule."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from tests.targets import alone


def test_product_of_perhaps_nothing() -> None:
    """The memory of the product before shows through."""

    def factors(inner: int) -> dict[str, np.ndarray]:
        return {"a": np.ones((2, inner), np.float32), "b": np.ones((3, inner, 4), np.float32)}

    node = helper.make_node("MatMul", ["a", "b"], ["y"])
    session = alone.session_of(alone.model_of([node], factors(5), {"y": TensorProto.FLOAT}))
    left = []
    for _ in range(20):
        session.run(None, factors(5))
        left.append(session.run(None, factors(0))[0])
    assert any((product != 0).any() for product in left)
