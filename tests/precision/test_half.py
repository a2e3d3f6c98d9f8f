"""float16 and bfloat16: close to PyTorch in half, and float32 where half would fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

import sardonyx
from sardonyx import Precision


def run(proto: onnx.ModelProto, **inputs: np.ndarray) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    result: np.ndarray = session.run(None, inputs)[0]
    return result


def halved(
    nodes: list[onnx.NodeProto], weights: dict[str, Any], precision: Any = "fp16", **inputs: int
) -> tuple[onnx.ModelProto, onnx.ModelProto, sardonyx.OptimizationReport]:
    """A model over inputs of so many axes, as it is and in half, and the report."""
    graph = helper.make_graph(
        nodes,
        "half",
        [
            helper.make_tensor_value_info(
                name, TensorProto.INT64 if name == "ids" else TensorProto.FLOAT, [None] * rank
            )
            for name, rank in inputs.items()
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )
    opsets = [helper.make_opsetid("", 20)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    result, report = sardonyx.optimize(proto, precision=precision)
    onnx.checker.check_model(result, full_check=True)
    return proto, result, report


def types(proto: onnx.ModelProto) -> dict[str, int]:
    return {each.name: each.data_type for each in proto.graph.initializer}


def kinds(proto: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in proto.graph.node]


W = np.random.default_rng(1).standard_normal((8, 8)).astype(np.float32)
X = np.random.default_rng(2).standard_normal((3, 8)).astype(np.float32)
MATMUL = helper.make_node("MatMul", ["x", "w"], ["y"], "product")


@pytest.mark.parametrize("to", ["fp16", "bf16"])
def test_interface_stays(to: Any) -> None:
    proto, result, report = halved([MATMUL], {"w": W}, to, x=2)
    assert result.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT
    assert result.graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT
    assert [v.name for v in result.graph.output] == ["y"]
    wanted = TensorProto.FLOAT16 if to == "fp16" else TensorProto.BFLOAT16
    assert types(result) == {"w": wanted}
    assert 0 < report.weights[0].relative_error < (5e-4 if to == "fp16" else 4e-3)
    tolerance = 5e-3 if to == "fp16" else 5e-2
    np.testing.assert_allclose(run(result, x=X), run(proto, x=X), rtol=tolerance, atol=tolerance)


def test_interface_on_request() -> None:
    _, result, _ = halved([MATMUL], {"w": W}, Precision("fp16", io=True), x=2)
    assert kinds(result) == ["MatMul"]
    assert result.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT16
    assert result.graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT16


def test_what_is_kept() -> None:
    for pattern in ("MatMul", "product", "^w$"):
        _, result, _ = halved([MATMUL], {"w": W}, Precision("fp16", keep=[pattern]), x=2)
        assert kinds(result) == ["MatMul"]
        assert types(result) == {"w": TensorProto.FLOAT}


@pytest.mark.parametrize("factor", [1e6, 1e-9])
def test_weights_that_do_not_fit_stay(factor: float) -> None:
    proto, result, report = halved([MATMUL], {"w": W * np.float32(factor)}, x=2)
    assert types(result) == {"w": TensorProto.FLOAT}
    assert any(each.node == "w" for each in report.declined)
    np.testing.assert_array_equal(run(result, x=X), run(proto, x=X))


def test_masks_are_limited_and_said_to_be() -> None:
    """What a row without anything to look at has is nobody's business, but it is no NaN."""
    lowest = np.finfo(np.float32).min
    nodes = [
        helper.make_node("Cast", ["ids"], ["float"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "float"], ["without"]),
        helper.make_node("Mul", ["without", "lowest"], ["mask"]),
        helper.make_node("MatMul", ["x", "w"], ["scores"]),
        helper.make_node("Add", ["scores", "mask"], ["masked"]),
        helper.make_node("Softmax", ["masked"], ["y"]),
    ]
    constants = {"w": W, "one": np.float32(1), "lowest": np.float32(lowest)}
    proto, result, report = halved(nodes, constants, x=2, ids=2)
    assert any("limited" in each.reason for each in report.declined)
    ids = np.array([[1] * 8, [0] * 8, [1, 0] * 4])
    got = run(result, x=X, ids=ids)
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got[[0, 2]], run(proto, x=X, ids=ids)[[0, 2]], atol=4e-3)


def test_positions_stay_exact() -> None:
    """Half has no odd numbers beyond 2048: angles of positions are computed before the cast."""
    nodes = [
        helper.make_node("Cast", ["ids"], ["float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["float", "frequency"], ["angle"]),
        helper.make_node("Cos", ["angle"], ["cos"]),
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Mul", ["h", "cos"], ["y"]),
    ]
    proto, result, _ = halved(nodes, {"w": W, "frequency": np.float32(1.0)}, x=2, ids=2)
    ids = np.array([[4097], [70001], [2049]])
    np.testing.assert_allclose(run(result, x=X, ids=ids), run(proto, x=X, ids=ids), atol=1e-2)


def test_small_epsilon_and_squares() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Mul", ["h", "h"], ["squares"]),
        helper.make_node("ReduceSum", ["squares", "axis"], ["sum"]),
        helper.make_node("Add", ["sum", "epsilon"], ["above"]),
        helper.make_node("Sqrt", ["above"], ["length"]),
        helper.make_node("Div", ["h", "length"], ["y"]),
    ]
    constants = {"w": W, "axis": np.array([-1]), "epsilon": np.float32(1e-12)}
    proto, result, _ = halved(nodes, constants, x=2)
    for scale in (1e-3, 1.0, 300.0):
        x = X * np.float32(scale)
        np.testing.assert_allclose(run(result, x=x), run(proto, x=x), rtol=1e-2, atol=4e-3)


def test_bodies() -> None:
    def branch(op: str) -> onnx.GraphProto:
        output = helper.make_tensor_value_info(op, TensorProto.FLOAT, [None, None])
        return helper.make_graph([helper.make_node(op, ["h", "w"], [op])], op, [], [output])

    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("ReduceMax", ["h"], ["most"], keepdims=0),
        helper.make_node("Greater", ["most", "zero"], ["condition"]),
        helper.make_node(
            "If", ["condition"], ["y"], then_branch=branch("MatMul"), else_branch=branch("Add")
        ),
    ]
    proto, result, _ = halved(nodes, {"w": W, "zero": np.float32(0)}, x=2)
    x = np.vstack([X, X, X])[:8]
    np.testing.assert_allclose(run(result, x=x), run(proto, x=x), rtol=2e-2, atol=3e-2)


def test_what_has_no_known_type_stays() -> None:
    values = numpy_helper.from_array(np.float32([1, 2, 3]), "")
    places = numpy_helper.from_array(np.int64([[0, 1], [4, 4], [7, 0]]), "")
    sparse = helper.make_sparse_tensor(values, places, [8, 8])
    here = helper.make_tensor_value_info("got", TensorProto.FLOAT, [None, None])
    there = helper.make_tensor_value_info("same", TensorProto.FLOAT, [None, None])
    nodes = [
        helper.make_node("Constant", [], ["s"], sparse_value=sparse),
        helper.make_node("MatMul", ["x", "s"], ["p"]),
        helper.make_node("MatMul", ["p", "w"], ["h"]),
        helper.make_node("Optional", ["h"], ["o"]),
        helper.make_node("OptionalHasElement", ["o"], ["has"]),
        helper.make_node(
            "If",
            ["has"],
            ["y"],
            then_branch=helper.make_graph(
                [helper.make_node("OptionalGetElement", ["o"], ["got"])], "then", [], [here]
            ),
            else_branch=helper.make_graph(
                [helper.make_node("Identity", ["h"], ["same"])], "else", [], [there]
            ),
        ),
    ]
    proto, result, _ = halved(nodes, {"w": W}, x=2)
    np.testing.assert_allclose(run(result, x=X), run(proto, x=X), rtol=1e-2, atol=3e-2)


def test_functions_called_one_after_the_other() -> None:
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    layer = helper.make_function(
        "own",
        "layer",
        ["x", "w"],
        ["y"],
        [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])],
        opsets[:1],
    )
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 8]) for n in ("x", "y")]
    graph = helper.make_graph(
        [
            helper.make_node("layer", ["x", "w"], ["a"], domain="own"),
            helper.make_node("layer", ["a", "w"], ["y"], domain="own"),
        ],
        "layers",
        ends[:1],
        ends[1:],
        [numpy_helper.from_array(W, "w")],
    )
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=[layer])
    result, _ = sardonyx.optimize(proto, precision="fp16")
    onnx.checker.check_model(result, full_check=True)
    np.testing.assert_allclose(run(result, x=X), run(proto, x=X), rtol=1e-2, atol=3e-2)


@pytest.mark.parametrize("to", ["fp16", "bf16"])
def test_a_transformer_as_in_eager(to: Any) -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval()
    x = torch.randn(2, 7, 32)
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length")
    program = sardonyx.export(layer, (x,), dynamic_shapes=({0: batch, 1: length},))
    result, report = sardonyx.optimize(program, precision=to)
    assert report.weights
    other = torch.randn(3, 5, 32)
    half = torch.float16 if to == "fp16" else torch.bfloat16
    with torch.no_grad():
        expected = layer(other)
        eager = layer.to(half)(other.to(half)).float()
    got = torch.from_numpy(
        run(result.model_proto, **{result.model_proto.graph.input[0].name: other.numpy()})
    )
    assert (got - expected).abs().max() < 3 * (eager - expected).abs().max() + 1e-3


def test_what_is_computed_of_constants_is_rounded_once() -> None:
    """Left unfolded because it is large, it is computed in float32 as the model is loaded."""
    rows, columns = np.arange(640)[:, None] / 640, np.arange(455)[None] / 441
    nodes = [
        helper.make_node("Sub", ["rows", "columns"], ["times"]),
        helper.make_node("Mul", ["times", "frequency"], ["angles"]),
        helper.make_node("Sin", ["angles"], ["sines"]),
        helper.make_node("MatMul", ["x", "sines"], ["y"]),
    ]
    weights = {
        "rows": rows.astype(np.float32),
        "columns": columns.astype(np.float32),
        "frequency": np.float32(436.6),
    }
    proto, result, _ = halved(nodes, weights, x=2)
    x = np.random.default_rng(0).random((2, 640), np.float32)
    want = run(proto, x=x)
    assert np.abs(run(result, x=x) - want).max() < 2e-3 * np.abs(want).max()


def test_sums_of_integers_are_scaled_before_they_are_rounded() -> None:
    """They are beyond half until the scale of the input, which a run tells, is multiplied in."""
    weight = np.full((64, 8), 127, np.int8)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
        helper.make_node("MatMulInteger", ["q", "w", "zero"], ["sums"]),
        helper.make_node("Cast", ["sums"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["scale", "by"], ["both"]),
        helper.make_node("Mul", ["real", "both"], ["product"]),
        helper.make_node("MatMul", ["product", "next"], ["y"]),
    ]
    weights = {"w": weight, "by": np.float32(1e-3), "next": W}
    proto, result, _ = halved(nodes, weights, x=2)
    x = np.ones((3, 64), np.float32)
    np.testing.assert_allclose(run(result, x=x), run(proto, x=x), rtol=5e-3, atol=5e-2)


class Counts(torch.nn.Module):
    """How often each number occurs, and which places are before another one."""

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        counted = torch.histc(ids.float(), 4, 0, 3).long()
        places = torch.arange(ids.shape[0], device=ids.device).float()
        return counted, places < 2999.0


@pytest.mark.parametrize("runtime", ["onnxruntime", "onnxruntime-cuda"])
@pytest.mark.parametrize("to", ["fp16", "bf16"])
def test_counts_and_places_are_exact(to: Any, runtime: Any) -> None:
    """Beyond 2048 and 256, where whole numbers end in the half types."""
    size = torch.export.Dim("size", max=100_000)
    program = sardonyx.export(
        Counts(), (torch.zeros(5, dtype=torch.int64),), dynamic_shapes=({0: size},),
        target_runtime=runtime,
    )  # fmt: skip
    made, _ = sardonyx.optimize(program.model_proto, precision=to, runtime=runtime)
    session = onnxruntime.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    ids = torch.randint(0, 4, (13_001,), generator=torch.Generator().manual_seed(0))
    found = session.run(None, {session.get_inputs()[0].name: ids.numpy()})
    for each, expected in zip(found, Counts()(ids), strict=True):
        assert torch.equal(torch.from_numpy(each), expected)
