"""What TensorRT is documented not to take is not in models for it: a test a rule. TensorRT itself
is not run, which takes a GPU; ONNX Runtime computes the same of its forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch.nn import functional

import sardonyx
from tests.harness import assert_exports

from .programs import Program, exported
from .test_cuda import Logits, bert, gpt2, llama

RUNTIME = "tensorrt"
IMAGE = torch.ones(2, 3, 8, 6)
ROW = torch.ones(2, 3, 8)


def nodes(function: Callable[..., Any], *args: torch.Tensor) -> dict[str, Any]:
    """Of the model, by operator."""
    graph = exported(RUNTIME, function, *args).model_proto.graph
    return {node.op_type: node for node in graph.node}


def ints(node: Any, name: str) -> list[int]:
    return next(list(a.ints) for a in node.attribute if a.name == name)


@pytest.mark.parametrize("options", [{"mode": "bicubic"}, {"mode": "bilinear", "antialias": True}])
def test_resize_by_cubes_or_filters(options: dict[str, Any]) -> None:
    assert "Resize" not in nodes(lambda x: functional.interpolate(x, (4, 3), **options), IMAGE)
    assert "Resize" in nodes(lambda x: functional.interpolate(x, (4, 3), mode="bilinear"), IMAGE)


def test_sample_of_a_volume() -> None:
    def function(x: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
        return functional.grid_sample(x, grid, align_corners=False)

    volume = torch.ones(2, 3, 4, 5, 6), torch.ones(2, 1, 1, 1, 3)
    program = sardonyx.export(Program(function), volume, target_runtime=RUNTIME, opset_version=24)
    assert "GridSample" not in {node.op_type for node in program.model_proto.graph.node}
    assert "GridSample" in nodes(function, *volume), "11.2 has it, and opset 25 is of 11.5"
    assert "GridSample" in nodes(function, IMAGE, torch.ones(2, 1, 1, 2))


def test_image_of_patches() -> None:
    assert "Col2Im" not in nodes(lambda x: functional.fold(x, (4, 4), 2), torch.ones(2, 4, 9))


def test_mean_of_a_row() -> None:
    pool = nodes(lambda x: functional.avg_pool1d(x, 2, 3, 1), ROW)["AveragePool"]
    assert ints(pool, "kernel_shape") == [1, 2]
    assert ints(pool, "pads") == [0, 1, 0, 1]


def test_maximum_of_a_row() -> None:
    pool = nodes(lambda x: functional.max_pool1d(x, 2, 3, 1), ROW)["MaxPool"]
    assert ints(pool, "kernel_shape") == [1, 2]
    assert ints(pool, "strides") == [1, 3]


def same_as_pytorch(function: Callable[..., Any], *args: torch.Tensor) -> set[str]:
    """The operators of a program that ONNX Runtime computes as PyTorch does, at other sizes too."""
    size = torch.export.Dim("size", min=2, max=64)
    shapes = (({0: size}, *(None for _ in args[1:])),)
    others = [(torch.cat([args[0], args[0] * 2]), *args[1:])]
    model = Program(function)
    assert_exports(model, args, None, shapes, others, target_runtime=RUNTIME)
    program = sardonyx.export(model, args, dynamic_shapes=shapes, target_runtime=RUNTIME)
    return {node.op_type for node in program.model_proto.graph.node}


@pytest.mark.parametrize("ceil", [False, True])
def test_maximum_of_windows_with_gaps(ceil: bool) -> None:
    image = torch.randn(2, 3, 9, 8)
    options: dict[str, Any] = {"padding": 1, "ceil_mode": ceil}
    found = same_as_pytorch(lambda x: functional.max_pool2d(x, 3, 2, dilation=2, **options), image)
    assert "MaxPool" not in found
    row = torch.randn(2, 3, 9)
    found = same_as_pytorch(lambda x: functional.max_pool1d(x, 3, 2, dilation=2, **options), row)
    assert "MaxPool" not in found
    assert "MaxPool" in nodes(lambda x: functional.max_pool2d(x, 3, 2, **options), IMAGE)


def pool_with_gaps(kind: str) -> None:
    """PyTorch has no such layers, and third-party models do."""
    value = onnx.helper.make_tensor_value_info
    window = {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 1]}
    for dilations in ([1, 1], [2, 3]):
        node = onnx.helper.make_node(kind, ["x"], ["y"], dilations=dilations, **window)
        graph = onnx.helper.make_graph(
            [node],
            "pooling",
            [value("x", onnx.TensorProto.FLOAT, ["n", 3, 9, 8])],
            [value("y", onnx.TensorProto.FLOAT, None)],
        )
        opsets = [onnx.helper.make_opsetid("", 22)]
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
        made, _ = sardonyx.optimize(model, runtime=RUNTIME)
        kinds = {each.op_type for each in made.graph.node}
        assert (kind in kinds) == (dilations == [1, 1])
        feeds = {"x": np.random.default_rng(0).standard_normal((4, 3, 9, 8), np.float32)}
        for each in zip(*(session(m).run(None, feeds) for m in (model, made)), strict=True):
            np.testing.assert_allclose(*each, rtol=1e-5, atol=1e-6)


def test_mean_of_windows_with_gaps() -> None:
    pool_with_gaps("AveragePool")


def test_norm_of_windows_with_gaps() -> None:
    pool_with_gaps("LpPool")


def test_slices_that_are_combined() -> None:
    rows = torch.tensor([1, 0, 1, 1])
    columns = torch.tensor([0, 2, -1, 0])
    updates = torch.randn(4, 5)

    def slices(x: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
        return x.index_put((rows, columns), updates, accumulate=True)

    def elements(x: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
        return x.index_put((rows, columns, rows), updates[:, 0], accumulate=True)

    for function in (slices, elements):
        found = same_as_pytorch(function, torch.randn(2, 3, 5), updates)
        assert "ScatterElements" in found
        assert "ScatterND" not in found
    found = nodes(lambda x, updates: x.index_put((rows,), updates), torch.ones(2, 5), updates)
    assert "ScatterND" in found


def test_statistics_of_a_layer() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return torch.native_layer_norm(x, [8], None, None, 1e-5)

    norm = nodes(function, ROW).get("LayerNormalization")
    assert norm is None or len(norm.output) == 1


def test_clip_of_integers() -> None:
    assert "Clip" not in nodes(lambda x: x.clamp(1, 5), ROW.long())


def test_places_of_integers() -> None:
    cast = nodes(lambda x: x.nonzero(), ROW.long())["Cast"]
    assert next(a.i for a in cast.attribute if a.name == "to") == 1


def test_running_sums_of_integers() -> None:
    assert "CumSum" not in nodes(lambda x: x.cumsum(1), ROW.long())
    assert "CumSum" in nodes(lambda x: x.cumsum(1), ROW)


def quantized(x: torch.Tensor, *limits: Any) -> torch.Tensor:
    q = torch.ops.quantized_decomposed.quantize_per_tensor(x, *limits)
    y: torch.Tensor = torch.ops.quantized_decomposed.dequantize_per_tensor(q, *limits)
    return y


SIGNED = (0.1, 0, -128, 127, torch.int8)
OTHERWISE = [(0.1, 3, -128, 127, torch.int8), (0.1, 0, 0, 255, torch.uint8)]


@pytest.mark.parametrize("limits", OTHERWISE)
def test_quantization_parameters(limits: tuple[Any, ...]) -> None:
    assert "QuantizeLinear" not in nodes(lambda x: quantized(x, *limits), ROW)
    assert "QuantizeLinear" in nodes(lambda x: quantized(x, *SIGNED), ROW)


@pytest.mark.parametrize("limits", OTHERWISE)
def test_dequantization_parameters(limits: tuple[Any, ...]) -> None:
    assert "DequantizeLinear" not in nodes(lambda x: quantized(x, *limits), ROW)
    assert "DequantizeLinear" in nodes(lambda x: quantized(x, *SIGNED), ROW)


def attention(inputs: dict[str, list[int | str]], outputs: int, **attributes: Any) -> Any:
    """A model of one Attention of opset 24, as it is for TensorRT, by operator."""
    value = onnx.helper.make_tensor_value_info
    names = ["q", "k", "v", "mask", "past_key", "past_value"]
    node = onnx.helper.make_node(
        "Attention",
        [name if name in inputs else "" for name in names][: 6 if "past_key" in inputs else 4],
        [f"y{i}" for i in range(outputs)],
        **attributes,
    )
    graph = onnx.helper.make_graph(
        [node],
        "attention",
        [value(name, onnx.TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [value(f"y{i}", onnx.TensorProto.FLOAT, None) for i in range(outputs)],
    )
    opsets = [onnx.helper.make_opsetid("", 24)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    made, _ = sardonyx.optimize(model, runtime=RUNTIME)
    onnx.checker.check_model(made, full_check=True)
    rng = np.random.default_rng(0)
    sizes = {"b": 2, "l": 3, "p": 4, "t": 7}
    feeds = {
        name: rng.standard_normal([sizes.get(str(d), d) for d in shape], np.float32)
        for name, shape in inputs.items()
    }
    for each in zip(*(session(m).run(None, feeds) for m in (model, made)), strict=True):
        np.testing.assert_allclose(*each, rtol=1e-4, atol=1e-5)
    return {node.op_type: node for node in made.graph.node}


def session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


HEADS: dict[str, list[int | str]] = {name: ["b", 2, "l", 8] for name in ("q", "k", "v")}
CACHE: dict[str, list[int | str]] = {n: ["b", 2, "p", 8] for n in ("past_key", "past_value")}


def test_attention_of_other_scores() -> None:
    assert "Attention" in attention(HEADS, 1)
    assert "Attention" not in attention(HEADS, 1, softcap=2.0)
    assert "Attention" not in attention(HEADS | CACHE, 3, is_causal=1)


def test_attention_of_a_cache() -> None:
    found = attention(HEADS | {"mask": ["b", 1, "l", "t"]} | CACHE, 3)
    assert len([name for name in found["Attention"].input if name]) == 4
    assert len(found["Attention"].output) == 1


def test_attention_of_three_axes() -> None:
    rows: dict[str, list[int | str]] = {name: ["b", "l", 16] for name in ("q", "k", "v")}
    found = attention(rows | {"mask": ["l", "l"]}, 1, q_num_heads=2, kv_num_heads=2)
    assert {"Attention", "Transpose", "Unsqueeze"} <= set(found)
    assert not {each.name for each in found["Attention"].attribute} & {"q_num_heads"}


def test_scatter_into_other_caches() -> None:
    value = onnx.helper.make_tensor_value_info
    for axis, shape in ((-2, [2, 2, 5, 4]), (1, [2, 5, 4])):
        update = [2, 2, 1, 4] if axis == -2 else [2, 1, 4]
        kind = onnx.TensorProto.FLOAT
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node("TensorScatter", ["past", "new", "at"], ["y"], axis=axis)],
            "cache",
            [
                value("past", kind, shape),
                value("new", kind, update),
                value("at", onnx.TensorProto.INT64, [2]),
            ],
            [value("y", kind, shape)],
        )
        opsets = [onnx.helper.make_opsetid("", 24)]
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
        made, _ = sardonyx.optimize(model, runtime=RUNTIME)
        assert ("TensorScatter" in {n.op_type for n in made.graph.node}) == (axis == -2)


@pytest.mark.parametrize("window", [{"kernel_size": 3, "padding": 1}, {"kernel_size": 2}])
@pytest.mark.parametrize("options", [{}, {"stride": 2, "ceil_mode": True}, {"dilation": 2}])
def test_maximum_with_its_place(window: dict[str, Any], options: dict[str, Any]) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        pool = functional.max_pool1d if x.dim() == 3 else functional.max_pool2d
        return pool(x, return_indices=True, **window, **options)

    for x in (torch.randn(2, 3, 9, 8), torch.randn(2, 3, 9)):
        x[0, 0] = -torch.inf  # nothing but padding is as great
        x[0, 1] = 2.0  # the first of those that are as great
        assert "MaxPool" not in same_as_pytorch(function, x)


def test_maximum_with_its_place_counts_through_all_planes() -> None:
    """As ONNX has it; PyTorch counts in the plane."""
    node = onnx.helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2, 2])
    value = onnx.helper.make_tensor_value_info
    places = value("i", onnx.TensorProto.INT64, None)
    graph = onnx.helper.make_graph(
        [node],
        "pooling",
        [value("x", onnx.TensorProto.FLOAT, ["n", 3, 4, 5, 6])],
        [value("y", onnx.TensorProto.FLOAT, None), places],
    )
    opsets = [onnx.helper.make_opsetid("", 22)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    made, _ = sardonyx.optimize(model, runtime=RUNTIME)
    assert "MaxPool" not in {each.op_type for each in made.graph.node}
    feeds = {"x": np.random.default_rng(0).standard_normal((2, 3, 4, 5, 6), np.float32)}
    for each in zip(*(session(m).run(None, feeds) for m in (model, made)), strict=True):
        np.testing.assert_array_equal(*each)


@pytest.mark.parametrize("largest", [True, False])
def test_many_of_the_greatest(largest: bool) -> None:
    rows = torch.randint(0, 3000, (2, 4000)).float()  # many are as great

    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, places = x.topk(3900, largest=largest)
        return values, x.gather(-1, places)

    assert "TopK" not in same_as_pytorch(function, rows)
    assert "TopK" not in same_as_pytorch(lambda x: x.sort(dim=1, stable=True)[1], rows)
    assert "TopK" in nodes(lambda x: x.topk(3840)[0], rows)


def test_greatest_in_any_order() -> None:
    top = nodes(lambda x: x.topk(2, sorted=False)[0], ROW)["TopK"]
    assert "sorted" not in {each.name for each in top.attribute}


@pytest.mark.parametrize(("make", "count"), [(bert, 94), (gpt2, 83), (llama, 95)])
def test_transformers_have_attention_of_the_parser(make: Any, count: int) -> None:
    ids = torch.ones(2, 8, dtype=torch.int64)
    free = {
        name: {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=64)}
        for name in ("input_ids", "attention_mask")
    }
    torch.manual_seed(0)
    model = Logits(make()).eval()
    program = sardonyx.export(model, (ids, ids), dynamic_shapes=free, target_runtime=RUNTIME)
    graph = program.model_proto.graph
    assert [each.version for each in program.model_proto.opset_import] == [25]
    assert len(graph.node) == count
    assert sum(node.op_type == "Attention" for node in graph.node) == 3
    other = torch.ones(1, 5, dtype=torch.int64)
    assert_exports(model, (ids, ids), None, free, [(other, other)], target_runtime=RUNTIME)


@pytest.mark.parametrize(
    ("precision", "kind"), [("fp16", 10), ("bf16", 16), ("int8", 3), ("int4", 22)]
)
def test_precision_is_that_of_the_file(precision: Any, kind: int) -> None:
    """Networks are strongly typed: no flag of the builder makes them smaller."""
    program = sardonyx.export(torch.nn.Linear(64, 64), (torch.ones(2, 64),), target_runtime=RUNTIME)
    made, _ = sardonyx.optimize(program.model_proto, runtime=RUNTIME, precision=precision)
    weight = max(made.graph.initializer, key=lambda each: len(each.raw_data))
    assert weight.data_type == kind
    for node in made.graph.node:
        if node.op_type == "DequantizeLinear":
            assert len(node.input) == 2, "no zero point"


def test_what_the_parser_has_no_operator_for_is_an_error() -> None:
    with pytest.raises(sardonyx.errors.ConversionError, match=r"SX1505.*TensorRT.*Compress") as e:
        nodes(torch.unique, ROW)
    assert "outside of the model" in str(e.value)


def test_types_without_a_kernel_are_computed_in_others() -> None:
    found = nodes(lambda x: x == x.flip(0), ROW > 0)
    assert {"Cast", "Equal"} <= set(found)
