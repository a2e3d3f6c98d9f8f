"""Samples of odd kinds, and models of odd forms, that `sardonyx.quantize` takes or rejects."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper

import sardonyx

from .test_quantize import residual_model, samples, session, weight


def two_products(
    after: list[onnx.NodeProto], *outputs: onnx.ValueInfoProto, width: int = 16
) -> onnx.ModelProto:
    """Products one after the other, in a file without the types of values within the model, in
    which nothing can be optimized."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="first"),
        helper.make_node("MatMul", ["a", "v"], ["b"], name="second"),
        *after,
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8])]
    weights = [weight("w", 8, width), weight("v", width, 8)]
    graph = helper.make_graph(nodes, "g", inputs, list(outputs), weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def plain(width: int = 16) -> onnx.ModelProto:
    """Whose result is the second product."""
    output = helper.make_tensor_value_info("b", TensorProto.FLOAT, ["n", 8])
    return two_products([], output, width=width)


def rows(count: int = 4) -> list[Any]:
    random = np.random.default_rng(3)
    return [random.standard_normal((2, 8)).astype(np.float32) for _ in range(count)]


def test_types_of_values_are_inferred() -> None:
    model = plain()
    quantized, report = sardonyx.quantize(model, rows())
    assert [each.name for each in report.layers] == ["first", "second"]
    again, report = sardonyx.quantize(quantized, rows(), force=True)
    assert len(report.layers) == 2
    for x in rows():
        exact = session(model).run(None, {"x": x})[0]
        for other in (quantized, again):
            np.testing.assert_allclose(session(other).run(None, {"x": x})[0], exact, atol=0.1)


@pytest.mark.parametrize("is_external", [False, True])
def test_weights_are_in_a_file_of_their_own_where_they_were(
    is_external: bool, tmp_path: Path
) -> None:
    model, out = tmp_path / "m.onnx", tmp_path / "q.onnx"
    onnx.save(plain(1024), model, save_as_external_data=is_external, size_threshold=0)
    sardonyx.quantize(model, rows(), out)
    assert Path(f"{out}.data").is_file() == is_external
    onnx.checker.check_model(onnx.load(out), full_check=True)


def test_outputs_of_other_types_are_measured() -> None:
    half = helper.make_tensor_value_info("h", TensorProto.FLOAT16, ["n", 8])
    model = two_products([helper.make_node("Cast", ["b"], ["h"], to=TensorProto.FLOAT16)], half)
    quantized, report = sardonyx.quantize(model, rows())
    assert report.snr is not None
    assert 20 < report.snr < 80
    x = rows()[0]
    assert session(quantized).run(None, {"x": x})[0].dtype == np.float16


def test_models_without_outputs_of_floating_point() -> None:
    best = helper.make_tensor_value_info("i", TensorProto.INT64, ["n", 1])
    model = two_products([helper.make_node("ArgMax", ["b"], ["i"], axis=1)], best)
    quantized, report = sardonyx.quantize(model, rows())
    assert len(report.layers) == 2
    assert report.snr is None
    onnx.checker.check_model(quantized, full_check=True)
    with pytest.raises(sardonyx.UsageError, match="no floating-point outputs"):
        sardonyx.quantize(model, rows(), snr=30)


def test_strings_among_the_inputs() -> None:
    model = plain()
    value = helper.make_tensor_value_info
    model.graph.node.append(helper.make_node("Identity", ["t"], ["u"]))
    model.graph.input.append(value("t", TensorProto.STRING, ["k"]))
    model.graph.output.append(value("u", TensorProto.STRING, ["k"]))
    _, report = sardonyx.quantize(model, [{"x": x, "t": np.array(["a", "b"])} for x in rows()])
    assert len(report.layers) == 2
    assert list(report.outputs) == ["b"]
    with pytest.raises(sardonyx.UsageError, match=r"SX1834.*'t'"):
        sardonyx.quantize(model, [{"x": rows()[0], "t": np.array([1, 2])}])


def test_a_model_of_half_precision_has_nothing_to_quantize() -> None:
    value = helper.make_tensor_value_info
    weights = onnx.numpy_helper.from_array(np.ones((8, 4), np.float16), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], "g",
        [value("x", TensorProto.FLOAT16, ["n", 8])], [value("y", TensorProto.FLOAT16, ["n", 4])],
        [weights],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(sardonyx.ConversionError, match=r"SX1833.*product: it is not of float32"):
        sardonyx.quantize(model, [np.ones((1, 8), np.float16)])


def test_damaged_files(tmp_path: Path) -> None:
    short, damaged = tmp_path / "short.npz", tmp_path / "damaged.npz"
    short.write_bytes(b"PK\3\4")
    np.savez(damaged, x=np.concatenate(samples()))
    with zipfile.ZipFile(damaged) as archive:
        begin = archive.infolist()[0].header_offset + 2000
    content = bytearray(damaged.read_bytes())
    content[begin : begin + 100] = bytes(100)
    damaged.write_bytes(content)
    for path in (short, damaged):
        with pytest.raises(sardonyx.UsageError, match=f"SX1834.*{path.name}"):
            sardonyx.quantize(residual_model(), path)


def test_functions_that_give_nothing(tmp_path: Path) -> None:
    script = tmp_path / "load.py"
    script.write_text("def samples():\n    pass\n")
    with pytest.raises(sardonyx.UsageError, match=r"SX1834.*samples of .* gives no samples"):
        sardonyx.quantize(residual_model(), f"{script}:samples")
    with pytest.raises(sardonyx.UsageError, match="SX1834"):
        sardonyx.quantize(residual_model(), lambda: None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def samples(:", "load.py raises SyntaxError"),
        ("import nothing_of_it", "load.py:1 raises ModuleNotFoundError"),
        ("def samples():\n    return [][1]", "load.py:2 raises IndexError"),
        ("def samples():\n    yield 1 / 0", "load.py:2 raises ZeroDivisionError"),
    ],
)
def test_scripts_that_raise(text: str, message: str, tmp_path: Path) -> None:
    script = tmp_path / "load.py"
    script.write_text(text)
    with pytest.raises(sardonyx.UsageError, match=f"SX1834.*{message}"):
        sardonyx.quantize(residual_model(), f"{script}:samples")


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    statistics = sardonyx.calibrate(residual_model(), samples())
    with pytest.raises(sardonyx.SaveError, match="SX1601"):
        statistics.save(tmp_path / "none" / "s.json")


def test_samples_without_elements() -> None:
    nothing = np.zeros((0, 3, 16, 16), np.float32)
    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1834.*no elements"):
        sardonyx.quantize(residual_model(), [nothing])
    # One of them is nothing to calibrate on, and no error.
    _, report = sardonyx.quantize(residual_model(), [nothing, *samples()])
    assert report.snr is not None
    assert report.snr > 30


def test_tensors_that_numpy_lacks() -> None:
    with pytest.raises(sardonyx.UsageError, match=r"SX1834.*bfloat16"):
        sardonyx.quantize(residual_model(), [torch.ones(1, 3, 16, 16, dtype=torch.bfloat16)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": 0}, "a batch has one sample at least"),
        ({"memory": 0}, "memory is a number of bytes above 0"),
        ({"snr": float("nan")}, "is not a number"),
        ({"equalize": "ever"}, "equalize is auto, always or never"),
        ({"smooth": ""}, "smooth is auto, always or never"),
    ],
)
def test_options_of_no_sense(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.concatenate(samples()))
    with pytest.raises(sardonyx.UsageError, match=message):
        sardonyx.quantize(residual_model(), tmp_path / "x.npz", tmp_path / "q.onnx", **options)
    assert not (tmp_path / "q.onnx").exists()


def test_a_ratio_that_cannot_hold_is_warned_of() -> None:
    with pytest.warns(sardonyx.errors.LowAccuracyWarning, match="300 dB do not hold"):
        _, report = sardonyx.quantize(residual_model(), samples(), snr=300)
    assert len(report.layers) == 1
