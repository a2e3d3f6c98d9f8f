"""Cross-layer equalization and smoothing of activations into weights, and what stays in float."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import sardonyx
from tests.harness.command import run_command
from tests.harness.json_output import told

from .test_quantize import decibels, made, samples, session, weight

pytestmark = pytest.mark.filterwarnings("ignore::sardonyx.errors.LowAccuracyWarning")


def scaled(name: str, factors: Any, *shape: int) -> onnx.TensorProto:
    """A weight whose channels along some axis are larger by factors."""
    elements = numpy_helper.to_array(weight(name, *shape)) * factors
    return numpy_helper.from_array(elements.astype(np.float32), name)


def normalized_model() -> onnx.ModelProto:
    """A normalization with two channels that are a hundred times larger than the others."""
    large = np.where(np.arange(64) % 32 == 5, 100, 1)
    nodes = [
        helper.make_node("LayerNormalization", ["x", "g", "b"], ["n"], name="norm"),
        helper.make_node("MatMul", ["n", "q"], ["mq"], name="query"),
        helper.make_node("MatMul", ["n", "k"], ["mk"], name="key"),
        helper.make_node("Mul", ["mq", "mk"], ["y"]),
    ]
    weights = [
        numpy_helper.from_array((large * 1.5).astype(np.float32), "g"),
        weight("b", 64), weight("q", 64, 16), weight("k", 64, 16),
    ]  # fmt: skip
    return made(nodes, weights, ["n", 64], ["n", 16])


def rows(count: int = 8, seed: int = 1) -> list[Any]:
    random = np.random.default_rng(seed)
    return [random.standard_normal((4, 64)).astype(np.float32) for _ in range(count)]


def noise(exact: onnx.ModelProto, other: onnx.ModelProto, data: list[Any]) -> float:
    runs = session(exact), session(other)
    a, b = (np.concatenate([run.run(None, {"x": x})[0] for x in data]) for run in runs)
    return float(10 * np.log10((a**2).sum() / ((a - b) ** 2).sum()))


def test_outliers_are_smoothed_into_weights() -> None:
    model, data, others = normalized_model(), rows(), rows(seed=2)
    plain, before = sardonyx.quantize(model, data, smooth="never")
    quantized, report = sardonyx.quantize(model, data)
    assert not before.equalized
    (smoothed,) = report.equalized
    assert smoothed.step == "smooth"
    assert smoothed.layers == ["query", "key"]
    assert smoothed.gain > 3
    assert noise(model, quantized, others) > noise(model, plain, others) + 3
    assert "smoothed, its products gain" in report.explained()
    onnx.checker.check_model(quantized, full_check=True)
    # A run more over the samples needs them again.
    once, report = sardonyx.quantize(model, iter(data))
    assert not report.equalized
    with pytest.raises(sardonyx.UsageError, match="read twice"):
        sardonyx.quantize(model, iter(data), smooth="always")
    assert len(once.graph.node) == len(plain.graph.node)


def test_samples_in_another_order_each_time() -> None:
    class Shuffled:
        seed = 0

        def __iter__(self) -> Any:
            self.seed += 1
            return iter(rows(seed=self.seed))

    _, report = sardonyx.quantize(normalized_model(), Shuffled(), smooth="always")
    assert report.equalized


def test_the_command_has_the_options(tmp_path: Path) -> None:
    model, out = tmp_path / "m.onnx", tmp_path / "q.onnx"
    onnx.save(normalized_model(), model)
    np.savez(tmp_path / "x.npz", x=np.concatenate(rows()))
    words = ("quantize", model, "--data", tmp_path / "x.npz", "--batch", "4", "-o", out, "--json")
    done = run_command(*words, "--smooth", "always", "--rounding-seconds", "0")
    report = told(done.stdout, "quantize")
    assert [each["step"] for each in report["equalized"]] == ["smooth"]
    assert not any(each["is_adaptive"] for each in report["layers"])
    done = run_command(*words, "--smooth", "never", "--equalize", "never")
    assert told(done.stdout, "quantize")["equalized"] == []


def test_nothing_that_others_read_is_smoothed() -> None:
    model = normalized_model()
    model.graph.output.append(helper.make_tensor_value_info("n", 1, ["n", 64]))
    _, report = sardonyx.quantize(model, rows(), smooth="always")
    assert not report.equalized


def convolutions(*, clips: bool) -> onnx.ModelProto:
    """Two convolutions, the first with channels of very different ranges."""
    factors = np.geomspace(0.02, 5, 8)
    limits = [
        numpy_helper.from_array(np.float32(each), name) for name, each in (("a", 0), ("c", 6))
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["h"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Clip", ["h", "a", "c"], ["r"])
        if clips
        else helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Conv", ["r", "w1"], ["y"], name="second"),
    ]
    weights = [
        scaled("w0", factors[:, None, None, None], 8, 3, 3, 3), scaled("b0", factors, 8),
        scaled("w1", 1 / factors[:, None, None], 4, 8, 3, 3), *limits,
    ]  # fmt: skip
    return made(nodes, weights, ["n", 3, 16, 16], ["n", 4, 14, 14])


def test_equalized_weights_keep_their_names() -> None:
    quantized, report = sardonyx.quantize(
        convolutions(clips=False), samples(), runtime="qnn", scheme="w8a8", equalize="always",
        mixed={"^w1$": "a16"},
    )  # fmt: skip
    assert report.equalized
    assert [each.weight for each in report.layers] == ["w0", "w1"]
    assert not any("before" in each.name for each in quantized.graph.initializer)


@pytest.mark.parametrize("per_channel", [True, False])
def test_layers_are_equalized(per_channel: bool) -> None:
    model = convolutions(clips=False)
    options: dict[str, Any] = {"per_channel": per_channel}
    plain, _ = sardonyx.quantize(model, samples(), **options, equalize="never")
    quantized, report = sardonyx.quantize(model, samples(), **options)
    assert [(each.step, each.layers) for each in report.equalized] == [("equalize", ["second"])]
    assert decibels(model, quantized) > decibels(model, plain) + 5
    # Six is six for every channel.
    clipped = convolutions(clips=True)
    assert not sardonyx.quantize(clipped, samples(), equalize="always", **options)[1].equalized


def test_what_is_measured_to_be_no_better_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sardonyx._quantize.quantize._Attempt.decibels", 30.0)
    model = convolutions(clips=False)
    assert not sardonyx.quantize(model, samples())[1].equalized
    assert sardonyx.quantize(model, samples(), equalize="always")[1].equalized


def test_exact_outputs_are_not_equalized(monkeypatch: pytest.MonkeyPatch) -> None:
    model = convolutions(clips=False)
    plain, report = sardonyx.quantize(model, samples(), equalize="never")
    assert report.snr is not None
    monkeypatch.setattr("sardonyx._quantize.quantize._EXACT", report.snr - 1)
    quantized, other = sardonyx.quantize(model, samples())
    assert not other.equalized
    assert quantized == plain
    # More is asked for.
    assert sardonyx.quantize(model, samples(), snr=report.snr + 1)[1].equalized


def patches(width: int) -> onnx.ModelProto:
    """A convolution whose result is read in float, and products of so many channels after it."""
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w0"], ["c"], name="patches", strides=[4, 4]),
        node("Flatten", ["c"], ["f"], axis=2),
        node("Softmax", ["f"], ["s"]),
        node("MatMul", ["s", "w1"], ["h"], name="first"),
        node("MatMul", ["h", "w2"], ["y"], name="second"),
    ]
    weights = [weight("w0", 8, 3, 4, 4), weight("w1", 16, width), weight("w2", width, 8)]
    model = made(nodes, weights, ["n", 3, 16, 16], ["n", 8, 8])
    model.graph.node[1].CopyFrom(node("Reshape", ["c", "shape"], ["f"]))
    model.graph.initializer.append(numpy_helper.from_array(np.array([0, 8, 16]), "shape"))
    return model


def test_a_small_layer_that_float_reads_stays_in_float(tmp_path: Path) -> None:
    _, report = sardonyx.quantize(patches(2048), samples())
    (kept,) = report.kept
    assert kept.name == "patches"
    assert "read in float" in kept.reason
    _, report = sardonyx.quantize(patches(256), samples())
    assert not report.kept
    # Other processors have no kernels for floats next to those for integers.
    assert not sardonyx.quantize(patches(2048), samples(), runtime="qnn")[1].kept
