"""`sardonyx.quantize`: integer kernels in ONNX Runtime, accuracy, targets, and what is rejected."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

import sardonyx
from sardonyx import _native
from sardonyx._quantize.arguments import TARGETS
from sardonyx._quantize.options import exactly


def weight(name: str, *shape: int) -> TensorProto:
    """The same for the same name."""
    random = np.random.default_rng(list(name.encode()))
    return numpy_helper.from_array((random.standard_normal(shape) * 0.2).astype(np.float32), name)


def residual_model() -> onnx.ModelProto:
    """Convolutions around a residual sum, then a pool and a linear layer."""
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w0", "b0"], ["c0"], name="stem", pads=[1, 1, 1, 1]),
        node("Relu", ["c0"], ["r0"], name="relu0"),
        node("MaxPool", ["r0"], ["p0"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p0", "w1"], ["c1"], name="middle", pads=[1, 1, 1, 1]),
        node("Add", ["c1", "p0"], ["s"], name="sum"),
        node("Relu", ["s"], ["r1"], name="relu1"),
        node("GlobalAveragePool", ["r1"], ["g"], name="average"),
        node("Flatten", ["g"], ["f"], name="flat"),
        node("Gemm", ["f", "w2", "b2"], ["y"], name="head", transB=1),
    ]
    weights = [
        weight("w0", 8, 3, 3, 3), weight("b0", 8), weight("w1", 8, 8, 3, 3), weight("w2", 5, 8),
        weight("b2", 5),
    ]  # fmt: skip
    return made(nodes, weights, ["n", 3, 16, 16], ["n", 5])


def made(
    nodes: list[onnx.NodeProto], weights: list[TensorProto], x: list[Any], y: list[Any]
) -> onnx.ModelProto:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", TensorProto.FLOAT, x)], [value("y", TensorProto.FLOAT, y)], weights
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def samples(count: int = 8, seed: int = 1) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    return [random.standard_normal((1, 3, 16, 16)).astype(np.float32) for _ in range(count)]


def session(model: onnx.ModelProto, **settings: Any) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    for name, value in settings.items():
        setattr(options, name, value)
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def loaded_operators(model: onnx.ModelProto, tmp_path: Path) -> Counter[str]:
    """Of the graph that ONNX Runtime runs."""
    path = tmp_path / "loaded.onnx"
    session(model, optimized_model_filepath=str(path))
    return Counter(node.op_type for node in onnx.load(path).graph.node)


def decibels(exact: onnx.ModelProto, other: onnx.ModelProto, seed: int = 2) -> float:
    """Signal to noise on samples that were not calibrated on."""
    signal = noise = 0.0
    runs = session(exact), session(other)
    for x in samples(seed=seed):
        a, b = (each.run(None, {"x": x})[0] for each in runs)
        signal += float((a**2).sum())
        noise += float(((a - b) ** 2).sum())
    return float(10 * np.log10(signal / noise))


def test_onnx_runtime_computes_in_integers(tmp_path: Path) -> None:
    model = residual_model()
    quantized, report = sardonyx.quantize(model, samples())
    onnx.checker.check_model(quantized, full_check=True)
    found = loaded_operators(quantized, tmp_path)
    assert found["QLinearConv"] == 2
    assert found["QLinearAdd"] == found["QLinearGlobalAveragePool"] == found["QGemm"] == 1
    assert not {"Conv", "Gemm", "Add", "Relu", "DequantizeLinear"} & set(found)
    assert len(report.layers) == 3
    assert decibels(model, quantized) > 30


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_a_pyramid_is_computed_in_integers(mode: str, tmp_path: Path) -> None:
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w0"], ["a"], pads=[1, 1, 1, 1]),
        node("Conv", ["a", "w1"], ["b"], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Resize", ["b", "", "s"], ["r"], mode=mode),
        node("Concat", ["a", "r"], ["c"], axis=1),
        node("Conv", ["c", "w2"], ["y"]),
    ]
    scales = numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "s")
    weights = [weight("w0", 8, 3, 3, 3), weight("w1", 8, 8, 3, 3), weight("w2", 4, 16, 1, 1)]
    model = made(nodes, [*weights, scales], ["n", 3, 16, 16], ["n", 4, 16, 16])
    quantized, _ = sardonyx.quantize(model, samples())
    onnx.checker.check_model(quantized, full_check=True)
    assert decibels(model, quantized) > 28
    found = loaded_operators(quantized, tmp_path)
    # Of elements between others there are none of the input's scale.
    assert found["QLinearConcat"] == (mode == "nearest")


def test_least_error_is_better_than_extremes() -> None:
    model = residual_model()
    best, report = sardonyx.quantize(model, samples())
    plain, _ = sardonyx.quantize(
        model, samples(), method="minmax", correct_bias=False, round_adaptively=False
    )
    assert decibels(model, best) > decibels(model, plain) + 1
    assert report.snr is not None


def test_rounding_by_samples_is_no_worse_for_pictures() -> None:
    """Samples of pictures are not all of one edge, where zeros are added."""
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Conv", ["r", "w1"], ["d"], pads=[1, 1, 1, 1]),
        helper.make_node("GlobalAveragePool", ["d"], ["y"]),
    ]
    weights = [weight("w0", 16, 3, 3, 3), weight("w1", 8, 16, 3, 3)]
    model = made(nodes, weights, ["n", 3, 16, 16], ["n", 8, 1, 1])
    pictures = [np.abs(each) for each in samples(32)]
    best, _ = sardonyx.quantize(model, pictures, runtime="tensorrt")
    plain, _ = sardonyx.quantize(model, pictures, runtime="tensorrt", round_adaptively=False)
    x = {"x": np.concatenate(pictures)}
    exact, one, two = (session(each).run(None, x)[0] for each in (model, best, plain))
    assert np.square(one - exact).sum() < np.square(two - exact).sum()


def test_rounding_by_samples_ends_in_time() -> None:
    model = residual_model()
    _, report = sardonyx.quantize(model, samples(), rounding_seconds=60)
    assert all(each.is_adaptive for each in report.layers)
    _, report = sardonyx.quantize(model, samples(), rounding_seconds=0)
    assert not any(each.is_adaptive for each in report.layers)
    assert "rounded to nearest" in report.explained()
    # The first weight may still be rounded by samples; then there is no time for the others.
    _, report = sardonyx.quantize(model, samples(), rounding_seconds=1e-7)
    assert not all(each.is_adaptive for each in report.layers)
    with pytest.raises(sardonyx.OnnxExporterError, match="SX1810"):
        sardonyx.quantize(model, samples(), rounding_seconds=-1)


def test_all_models_that_are_tried_round_weights_once() -> None:
    model = residual_model()
    before = sardonyx.quantize(model, samples())[1]
    assert before.snr is not None
    options: dict[str, Any] = {"snr": before.snr + 3, "rounding_seconds": 1e-7}
    _, report = sardonyx.quantize(model, samples(), **options)
    # There is time for the first weight of the first model alone.
    assert sum(each.is_adaptive for each in report.layers) <= 1
    quantized, report = sardonyx.quantize(model, samples(), snr=before.snr + 3)
    kept = [exactly(each.name) for each in report.kept]
    assert kept
    assert quantized == sardonyx.quantize(model, samples(), keep=kept)[0]


def test_layers_stay_in_float_until_the_ratio_holds() -> None:
    model = residual_model()
    before = sardonyx.quantize(model, samples())[1]
    assert before.snr is not None
    quantized, report = sardonyx.quantize(model, samples(), snr=before.snr + 3, explain=True)
    assert report.snr is not None
    assert report.snr >= before.snr + 3
    assert report.layers
    assert report.kept
    assert all("dB" in each.reason for each in report.kept)
    assert all(layer.snr is not None for layer in report.layers)
    onnx.checker.check_model(quantized, full_check=True)


def test_layers_get_more_bits_before_they_stay_in_float() -> None:
    model = residual_model()
    before = sardonyx.quantize(model, samples(), runtime="qnn", scheme="w8a8")[1]
    assert before.snr is not None
    quantized, report = sardonyx.quantize(
        model, samples(), runtime="qnn", scheme="w8a8", snr=before.snr + 0.3
    )
    assert report.snr is not None
    assert report.snr >= before.snr + 0.3
    assert not report.kept
    raised = [each for each in report.layers if each.more_bits]
    assert raised
    assert all("dB" in each.more_bits for each in raised)
    assert "more bits" in report.explained()
    onnx.checker.check_model(quantized, full_check=True)


def test_quantized_models_are_quantized_anew_by_force_alone() -> None:
    model = residual_model()
    once, _ = sardonyx.quantize(model, samples())
    with pytest.raises(sardonyx.ConversionError, match="SX1831"):
        sardonyx.quantize(once, samples())
    again, report = sardonyx.quantize(once, samples(), force=True, runtime="qnn", scheme="w8a16")
    onnx.checker.check_model(again, full_check=True)
    assert len(report.layers) == 3
    assert decibels(model, again) > 28


def test_codes_that_are_limited_and_moved_are_quantized_anew() -> None:
    """As quantized modules of PyTorch have them: a ReLU and a reshape of integers."""
    node, constant = helper.make_node, numpy_helper.from_array
    nodes = [
        node("MatMul", ["x", "w"], ["h"]),
        node("QuantizeLinear", ["h", "s", "z"], ["q"]),
        node("Max", ["q", "z"], ["m"]),
        node("Reshape", ["m", "shape"], ["r"]),
        node("DequantizeLinear", ["r", "s", "z"], ["d"]),
        node("MatMul", ["d", "v"], ["y"]),
    ]
    weights = [
        weight("w", 8, 16), weight("v", 4, 8), constant(np.float32(0.03), "s"),
        constant(np.uint8(100), "z"), constant(np.array([-1, 4]), "shape"),
    ]  # fmt: skip
    model = made(nodes, weights, ["n", 8], ["k", 8])
    random = np.random.default_rng(5)
    data = [random.standard_normal((2, 8)).astype(np.float32) for _ in range(4)]
    quantized, report = sardonyx.quantize(model, data, force=True)
    assert len(report.layers) == 2
    for x in data:
        exact, found = (session(each).run(None, {"x": x})[0] for each in (model, quantized))
        np.testing.assert_allclose(found, exact, atol=0.1)


def test_saturation_is_kept_by_force() -> None:
    """Tools drop a Relu before unsigned integers from 0 on."""
    scale, zero = (
        numpy_helper.from_array(np.array(each), name)
        for name, each in (("s", np.float32(0.02)), ("z", np.uint8(0)))
    )
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["c"]),
        helper.make_node("QuantizeLinear", ["c", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("Conv", ["d", "w1"], ["y"]),
    ]
    weights = [weight("w0", 8, 3, 3, 3), weight("w1", 8, 8, 3, 3), scale, zero]
    model = made(nodes, weights, ["n", 3, 16, 16], ["n", 8, 12, 12])
    again, _ = sardonyx.quantize(model, samples(), force=True)
    assert decibels(model, again) > 25


def test_weights_alone() -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    model = made(nodes, [weight("w", 64, 32)], ["n", 64], ["n", 32])
    x = np.random.default_rng(0).standard_normal((8, 64)).astype(np.float32)
    quantized, report = sardonyx.quantize(model, [x], scheme="w4a16")
    assert [node.op_type for node in quantized.graph.node] == ["MatMulNBits"]
    assert [each.weight for each in report.layers] == ["w"]
    assert report.layers[0].bytes_after < report.layers[0].bytes_before / 5
    assert report.snr is not None
    assert report.snr > 15
    with pytest.raises(sardonyx.ConversionError, match=r"SX1830(?s:.)*choose onnxruntime-cpu"):
        sardonyx.quantize(model, scheme="w4a16", runtime="qnn")
    of_bytes, _ = sardonyx.quantize(model, [x])
    with pytest.raises(sardonyx.ConversionError, match=r"SX1833(?s:.)*--force"):
        sardonyx.quantize(of_bytes, scheme="w4a16")
    anew, _ = sardonyx.quantize(of_bytes, scheme="w4a16", force=True)
    assert "MatMulNBits" in [node.op_type for node in anew.graph.node]


def test_outputs_that_are_noise_are_warned_of() -> None:
    model = residual_model()
    small = sardonyx.calibrate(model, [1e-3 * each for each in samples()])
    with pytest.warns(sardonyx.errors.LowAccuracyWarning, match=r"dB of signal to noise.*--snr"):
        _, report = sardonyx.quantize(model, samples(), stats=small)
    assert report.snr is not None
    assert report.snr < 10


def test_the_record_of_weights_is_dropped(tmp_path: Path) -> None:
    model = torch.nn.Linear(4, 2)
    program = sardonyx.export(model, (torch.randn(1, 4),))
    program.save(tmp_path / "m.onnx")
    sardonyx.quantize(tmp_path / "m.onnx", [torch.randn(1, 4)], tmp_path / "q.onnx")
    before, after = (
        {entry.key for entry in onnx.load(tmp_path / name).metadata_props}
        for name in ("m.onnx", "q.onnx")
    )
    assert before - after == {"sardonyx.weights"}


def test_kept_layers_stay_as_they_are() -> None:
    quantized, report = sardonyx.quantize(residual_model(), samples(), keep=["^stem$", "Gemm"])
    assert {each.name for each in report.kept} == {"stem", "head"}
    assert [each.name for each in report.layers] == ["middle"]
    assert any(each.name == "w0" for each in quantized.graph.initializer)


@pytest.mark.parametrize(
    ("runtime", "scheme", "dtypes"),
    [
        ("tensorrt", "w8a8", {TensorProto.INT8}),
        ("tensorrt", "fp8", {TensorProto.FLOAT8E4M3FN}),
        ("qnn", "w8a16", {TensorProto.UINT16}),
        ("ryzen-ai", "w8a8", {TensorProto.INT8}),
        ("openvino", "w8a8", {TensorProto.UINT8}),
        ("onnxruntime-avx2", "w8a8", {TensorProto.UINT8}),
    ],
)
def test_forms_of_targets(runtime: Any, scheme: Any, dtypes: set[int]) -> None:
    model = residual_model()
    quantized, _ = sardonyx.quantize(model, samples(), runtime=runtime, scheme=scheme)
    onnx.checker.check_model(quantized, full_check=True)
    held = {each.name: each for each in quantized.graph.initializer}
    quantizers = [each for each in quantized.graph.node if each.op_type == "QuantizeLinear"]
    zero_points = [held[each.input[2]] for each in quantizers]
    assert {each.data_type for each in zero_points} == dtypes
    if runtime == "tensorrt" and scheme == "w8a8":
        assert not any(numpy_helper.to_array(each).any() for each in zero_points)
    if runtime == "ryzen-ai":
        scales = [float(numpy_helper.to_array(held[each.input[1]])) for each in quantizers]
        assert all(np.log2(scale).is_integer() for scale in scales)
    # The type has a mantissa of 3 bits, and a power of two as a scale costs up to a bit.
    assert decibels(model, quantized) > {"fp8": 20, "w8a16": 30}.get(scheme, 24)


def test_pages_and_options_have_every_target() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/quantize.md").read_text(encoding="utf-8")
    targets = _native.quantization_targets()
    assert [name for name, *_ in targets] == list(TARGETS)
    for name, _, schemes, is_run, _ in targets:
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert "| " + ", ".join(f"`{each}`" for each in schemes) + " |" in row
        assert row.endswith("| run |" if is_run else "| documentation |")


def test_layers_of_more_bits() -> None:
    model = residual_model()
    quantized, _ = sardonyx.quantize(
        model, samples(), runtime="qnn", scheme="w8a8", mixed={"head": "a16", "^stem$": "keep"}
    )
    onnx.checker.check_model(quantized, full_check=True)
    held = {each.name: each.data_type for each in quantized.graph.initializer}
    types = Counter(
        held[each.input[2]] for each in quantized.graph.node if each.op_type == "QuantizeLinear"
    )
    # The input of the head is moved from the pool, whose scale it has.
    assert types[TensorProto.UINT16] == 2
    assert types[TensorProto.UINT8] > 2
    with pytest.raises(sardonyx.ConversionError, match="SX1830"):
        sardonyx.quantize(model, samples(), runtime="tensorrt", mixed={"head": "a16"})


def test_a_sum_after_a_product_is_corrected() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], name="product"),
        helper.make_node("Add", ["m", "b"], ["y"], name="sum"),
    ]
    model = made(nodes, [weight("w", 64, 4), weight("b", 4)], ["n", 64], ["n", 4])
    data = [
        np.abs(np.random.default_rng(i).standard_normal((4, 64)).astype(np.float32))
        for i in range(4)
    ]
    quantized, _ = sardonyx.quantize(model, data, round_adaptively=False, explain=False)
    plain, _ = sardonyx.quantize(model, data, round_adaptively=False, correct_bias=False)
    x = {"x": np.concatenate(data)}
    exact = session(model).run(None, x)[0]
    corrected, before = (
        np.abs((session(each).run(None, x)[0] - exact).mean(0)).max() for each in (quantized, plain)
    )
    assert corrected < before / 2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([{"z": np.zeros((1, 3, 16, 16), np.float32)}], "no input 'x': it has z"),
        ([np.zeros((1, 3, 8, 16), np.float32)], "of shape [1, 3, 8, 16]"),
        ([np.zeros((1, 3, 16, 16), np.float64)], "float64, and the model takes float32"),
        ([np.full((1, 3, 16, 16), np.nan, np.float32)], "NaN"),
        ([], "no samples"),
    ],
)
def test_samples_that_do_not_fit(data: Any, said: str, tmp_path: Path) -> None:
    out = tmp_path / "q.onnx"
    with pytest.raises(sardonyx.UsageError) as caught:
        sardonyx.quantize(residual_model(), data, out)
    assert caught.value.diagnostics[0].code == "SX1834"
    assert said in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_other_runtimes_are_measured_without_fusions_of_this_one() -> None:
    """ONNX Runtime drops a Clip before a QuantizeLinear that reaches 1e-7 below it."""
    limits = [
        numpy_helper.from_array(np.float32(each), name) for name, each in (("a", 0), ("b", 6))
    ]
    small = numpy_helper.from_array(numpy_helper.to_array(weight("w0", 8, 3, 3, 3)) * 1e-9, "w0")
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Clip", ["c", "a", "b"], ["r"]),
        helper.make_node("Conv", ["r", "w1"], ["d"]),
        helper.make_node("Clip", ["d", "a", "b"], ["e"]),
        helper.make_node("Conv", ["e", "w2"], ["y"]),
    ]
    weights = [small, weight("w1", 8, 8, 3, 3), weight("w2", 4, 8, 1, 1), *limits]
    model = made(nodes, weights, ["n", 3, 16, 16], ["n", 4, 14, 14])
    _, report = sardonyx.quantize(model, samples(), runtime="tensorrt")
    assert report.snr is not None
    assert report.snr > 20
