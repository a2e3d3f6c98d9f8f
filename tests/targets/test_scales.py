"""Factors of products in ONNX Runtime alone: a test a rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import numpy_helper
from onnx.helper import make_node

import sardonyx
from tests.targets import alone


def model_of(
    nodes: Sequence[onnx.NodeProto], x: np.ndarray, outputs: Sequence[str], **numbers: float
) -> onnx.ModelProto:
    """Of x alone; the numbers are initializers of its type."""
    kind = onnx.helper.np_dtype_to_tensor_dtype(x.dtype)
    made = alone.model_of(nodes, {"x": x}, dict.fromkeys(outputs, kind), opset=17)
    model = onnx.load_from_string(made)
    for name, number in numbers.items():
        model.graph.initializer.append(numpy_helper.from_array(x.dtype.type(number), name))
    return model


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("turned", [False, True])
def test_product_of_twice_scaled(dtype: type, turned: bool) -> None:
    x = np.arange(4, dtype=dtype).reshape(2, 2)
    nodes = [
        make_node("Div", ["x", "four"], ["once"]),
        make_node("Mul", ["half", "once"], ["twice"]),
        *([make_node("Transpose", ["twice"], ["turned"], perm=[1, 0])] if turned else []),
        make_node("MatMul", ["turned" if turned else "twice", "x"], ["a"]),
        make_node("MatMul", ["a", "once"], ["y"]),
    ]
    model = model_of(nodes, x, ["y"], four=4, half=0.5)
    with pytest.raises(Exception, match="Invalid model"):
        alone.session_of(model.SerializeToString())
    made, _ = sardonyx.optimize(model)
    (y,) = alone.session_of(made.SerializeToString()).run(None, {"x": x})
    np.testing.assert_allclose(y, ((x.T if turned else x) / 8) @ x @ (x / 4), rtol=1e-6)


@pytest.mark.parametrize("turned", [False, True])
def test_product_of_scaled_without_end(turned: bool) -> None:
    x = np.array([[1, -2], [0, 3]], np.float64)
    nodes = [
        make_node("Div", ["x", "zero"], ["once"]),
        *([make_node("Transpose", ["once"], ["turned"], perm=[1, 0])] if turned else []),
        make_node("MatMul", ["turned" if turned else "once", "x"], ["y"]),
    ]
    _loads_only_optimized(model_of(nodes, x, ["y"], zero=0), x)


def test_product_scaled_without_end() -> None:
    x = np.array([[1, -2], [0, 3]], np.float64)
    nodes = [make_node("MatMul", ["x", "x"], ["p"]), make_node("Mul", ["endless", "p"], ["y"])]
    _loads_only_optimized(model_of(nodes, x, ["y"], endless=float("inf")), x)


def test_product_divided_by_zero() -> None:
    x = np.array([[1, -2], [0, 3]], np.float64)
    nodes = [make_node("MatMul", ["x", "x"], ["p"]), make_node("Div", ["p", "zero"], ["y"])]
    _loads_only_optimized(model_of(nodes, x, ["y"], zero=0), x)


def _loads_only_optimized(model: onnx.ModelProto, x: np.ndarray) -> None:
    with pytest.raises(Exception, match="must be finite"):
        alone.session_of(model.SerializeToString())
    made, _ = sardonyx.optimize(model)
    (y,) = alone.session_of(made.SerializeToString()).run(None, {"x": x})
    with np.errstate(all="ignore"):
        wanted = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})[0]
    np.testing.assert_array_equal(y, wanted)


def test_factors_whose_product_rounds_to_nothing_stay_two() -> None:
    x = np.full((2, 2), 1e30, np.float32)
    nodes = [
        make_node("Mul", ["x", "large"], ["once"]),
        make_node("Div", ["once", "large"], ["twice"]),
        make_node("MatMul", ["twice", "x"], ["y"]),
    ]
    made, _ = sardonyx.optimize(model_of(nodes, x, ["y", "once"], large=1e20))
    assert [node.op_type for node in made.graph.node] == ["Mul", "Div", "Max", "MatMul"]
    (y, _) = alone.session_of(made.SerializeToString()).run(None, {"x": x})
    assert np.isinf(y).all()
