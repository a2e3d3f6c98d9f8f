"""The harness must notice each kind of wrong answer; what cannot fail proves nothing."""

from __future__ import annotations

import math

import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch.export import Dim

from . import Inputs, Session, assert_wellformed, capture, difference, model_inputs, model_outputs


@pytest.mark.parametrize(
    "actual, expected, fragment",
    [
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]), "values"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), "values"),
        (torch.tensor([2**53 + 1]), torch.tensor([2**53]), "values"),
        (torch.tensor([True]), torch.tensor([False]), "values"),
        (torch.tensor([1]), torch.tensor([1], dtype=torch.int32), "dtype"),
        (torch.ones(2, 1), torch.ones(2), "shape"),
        (torch.empty(0, 3), torch.empty(0, 4), "shape"),
        (torch.tensor([math.inf]), torch.tensor([-math.inf]), "values"),
        (torch.tensor([0.0]), torch.tensor([math.nan]), "values"),
        (torch.tensor([3e38]), torch.tensor([math.inf]), "values"),
    ],
)
def test_difference_is_noticed(actual: torch.Tensor, expected: torch.Tensor, fragment: str) -> None:
    found = difference(actual, expected)
    assert found is not None
    assert found.startswith(fragment)


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([math.nan, math.inf, -math.inf, 0.0]),
        torch.tensor([2**62, -5]),
        torch.empty(0, 2),
        torch.tensor(1.5, dtype=torch.bfloat16),
    ],
)
def test_equal_is_equal(value: torch.Tensor) -> None:
    assert difference(value.clone(), value) is None


def test_complex_is_a_trailing_pair() -> None:
    value = torch.tensor([1 + 2j, 3j])
    assert difference(torch.view_as_real(value).clone(), value) is None


class _Nested(torch.nn.Module):
    def forward(self, x, pair, *, scale=None, flag=True, bias=None):
        y = x + pair["a"] * pair["b"][0]
        return {"sum": y if bias is None else y + bias, "none": None, "rows": x.shape[0]}


def test_leaves_follow_the_signature_not_the_call() -> None:
    x, a, b, bias = (torch.full((2, 3), float(i)) for i in range(4))
    pair = {"a": a, "b": [b]}
    kwargs = {"flag": True, "scale": None, "bias": bias}
    program = capture(_Nested(), (x, pair), kwargs)
    reordered = {"bias": bias, "flag": True, "scale": None}
    fed = model_inputs(program, (x, pair), reordered)
    assert [t[0, 0].item() for t in fed] == [0.0, 1.0, 2.0, 3.0]
    results = _Nested()(x, pair, **kwargs)
    kept = model_outputs(program, results)
    assert [tuple(t.shape) for t in kept] == [(2, 3), ()]


def _model(dims: list[object], outputs: list[object]) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, outputs)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def test_a_false_dimension_name_is_noticed() -> None:
    session = Session(_model(["n", "n"], ["n", "n"]).SerializeToString())
    session.run([torch.ones(2, 2)])
    with pytest.raises(AssertionError, match="declared"):
        session.run([torch.ones(2, 3)])


def test_a_missing_input_is_noticed() -> None:
    session = Session(_model(["n"], ["n"]).SerializeToString())
    with pytest.raises(AssertionError, match="1 inputs"):
        session.run([])


def test_every_float_format_passes_through_unchanged() -> None:
    for dtype, kind in (
        (torch.bfloat16, TensorProto.BFLOAT16),
        (torch.float16, TensorProto.FLOAT16),
        (torch.float8_e4m3fn, TensorProto.FLOAT8E4M3FN),
    ):
        model = _model(["n"], ["n"])
        model.graph.input[0].type.tensor_type.elem_type = kind
        model.graph.output[0].type.tensor_type.elem_type = kind
        model.opset_import[0].version = 19
        value = torch.tensor([0.5, -2.0, 0.0]).to(dtype)
        (result,) = Session(model.SerializeToString()).run([value])
        assert result.dtype == dtype
        assert result.float().tolist() == [0.5, -2.0, 0.0]


def test_an_unnamed_output_is_not_wellformed() -> None:
    model = _model(["n"], ["n"])
    assert_wellformed(model)
    model.graph.output.append(model.graph.output[0])
    with pytest.raises(Exception, match=r"share a name|unique|SSA|duplicate"):
        assert_wellformed(model)


def test_inputs_are_copied_before_a_program_writes_to_them() -> None:
    inputs = Inputs.of((torch.zeros(2),))
    inputs.copied().args[0].add_(1)
    assert inputs.args[0].sum() == 0


def test_a_captured_size_stays_an_input() -> None:
    class Grow(torch.nn.Module):
        def forward(self, x, n):
            return x.new_ones(n, 2)

    program = capture(Grow(), (torch.ones(1), 3), dynamic_shapes={"x": None, "n": Dim.DYNAMIC})
    fed = model_inputs(program, (torch.ones(1), 5), {})
    assert [tuple(t.shape) for t in fed] == [(1,), ()]
    assert fed[1].item() == 5
