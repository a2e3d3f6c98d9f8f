"""`make bench-cuda` and `make bench-kernels PROVIDER=cuda` as they are without a GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest
from bench import kernels
from bench.cuda import __main__ as bench
from bench.cuda import makers, models, placing, timing, verdicts
from bench.cuda.results import Results

pytestmark = pytest.mark.skipif(not timing.missing(), reason="there is a GPU, and times are taken")


def test_models_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--models", "vit", "--precisions", "fp16", "--makers", "sardonyx,torch.onnx"]
    assert bench.main([*names, "--no-decoder"]) == 0
    printed = capsys.readouterr().out
    assert "Nothing is timed" in printed
    rows = [line.split(" | ") for line in printed.splitlines() if line.startswith("| vit")]
    ours, fixed, theirs = rows
    assert int(fixed[2]) < int(ours[2]) < int(theirs[2]) / 3
    assert ours[3] == fixed[3] == theirs[3] == "nothing"


# The small models of the bench, in half precision with dynamic sizes.
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("bert", 34), ("gpt2", 32), ("llama", 50), ("vit", 27), ("swin", 85), ("whisper", 33),
        ("t5", 44),
        # Each of its 10 group norms is 5 nodes, or 33 in ONNX Runtime where it stays one.
        ("unet", 196),
    ],
)  # fmt: skip
def test_nodes_in_half_precision(name: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    makers.ours(models.subject(name, small=True), "fp16", path)
    model = onnx.load(path)
    assert len(model.graph.node) == count
    assert not placing.left_to_the_cpu(model)


def test_what_would_be_left_to_the_cpu() -> None:
    text = """<ir_version: 10, opset_import: ["" : 22, "com.microsoft" : 1]>
    g (int64[4] x, float16[1, 1, 4, 4] z) => (int64[4] y, float16[1, 1, 2, 2] w) {
        c = Constant<value = int64 {3}>()
        a = BitwiseAnd(x, c)
        y = com.microsoft.NotThere(a)
        w = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(z)
    }"""
    left = placing.left_to_the_cpu(onnx.parser.parse_model(text))
    # The provider has MaxPool of opsets below 22 alone.
    assert left == {"BitwiseAnd": 1, "NotThere": 1, "MaxPool": 1}


def test_operators_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert kernels.main(["--provider", "cuda", "skip-rms-normalization"]) == 0
    printed = capsys.readouterr().out
    assert "Nothing is timed" in printed
    assert "| SkipSimplifiedLayerNormalization |" in printed


def test_an_operator_that_gives_something_else_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    feeds = {"a": kernels._floats(4)}
    case = kernels.Case("odd", "4", "y = Neg(a)", "y = msft.BiasGelu(a, a)", feeds)
    monkeypatch.setattr(kernels, "cases", lambda: iter([case]))
    assert kernels.main(["--provider", "cuda"]) == 1


def test_what_was_measured_is_not_measured_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "results" / "cuda.json"
    words = ["--models", "vit", "--makers", "sardonyx", "--no-decoder", "--architectures", "0"]
    words += ["--results", str(file)]
    assert bench.main([*words, "--precisions", "fp16"]) == 0
    first = capsys.readouterr().out
    assert "| fp16/vit: right | yes |" in first
    assert list(json.loads(file.read_text())["records"]) == ["models/fp16/vit"]
    monkeypatch.setattr(bench, "check", lambda *_: pytest.fail("it is there already"))
    assert bench.main([*words, "--precisions", "fp16"]) == 0
    assert capsys.readouterr().out == first
    # When time is over nothing more is begun, and what is left out is named.
    assert bench.main([*words, "--precisions", "fp16,fp32", "--minutes", "0"]) == 0
    assert "Not begun for lack of time: 1 (models/fp32/vit)" in capsys.readouterr().out


def test_a_failure_is_recorded_and_the_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(it: Any, precision: str, made: Any) -> Any:
        raise RuntimeError("no memory")

    monkeypatch.setattr(bench, "check", failing)
    words = ["--models", "vit,bert", "--precisions", "fp16", "--makers", "sardonyx"]
    words += ["--no-decoder", "--architectures", "0", "--results", str(tmp_path / "r.json")]
    assert bench.main(words) == 1
    printed = capsys.readouterr().out
    assert "| fp16/vit | **no** | RuntimeError: no memory |" in printed
    assert "| fp16/bert | **no** | RuntimeError: no memory |" in printed


def test_results_of_another_device_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "cuda.json"
    Results(file, "one").put({"models/fp16/bert": {}})
    with pytest.raises(SystemExit, match="measured on one, and this is other"):
        Results(file, "other")


def test_an_unknown_name_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["--models", "bert,brt"])
    assert "no 'brt' among bert, gpt2" in capsys.readouterr().err


def test_what_times_show() -> None:
    ms = {
        "sardonyx": [1.0, 2.0], "sardonyx for the standard": [1.0, 2.0], "torch.onnx": [1.6, 2.9],
        "ORT's optimizer": [1.5, 1.9], verdicts.GRAPH: [0.8, 1.0], verdicts.REDUCED: [1.0, 1.0],
    }  # fmt: skip
    records = {
        "models/fp16/bert": {"ms": ms, "left": {"MemcpyToHost": 1}},
        "models/fp16/unet": {"ms": {"sardonyx": [1, 1], "torch.onnx": [1, 1]}, "left": {}},
        "decoder/fp16": {
            "sardonyx": {"nodes": 100, "prompt": 2.0, "token": 1.0},
            "model builder": {"nodes": 99, "prompt": 1.0, "token": 1.0},
        },
        "architectures/a": {"fp32": {"result": "right"}, "fp16": {"result": "wrong"}},
        "architectures/b": {"fp32": {"result": "right", "left": {"Concat": 1}}},
    }
    shown = {what: is_shown for what, is_shown, _ in verdicts.verdicts(records)}
    assert shown == {
        "fp16/bert: time of torch.onnx's": True,
        "fp16/bert: time of ORT's optimizer's": False,
        "fp16/bert: time of sardonyx for the standard's": True,
        "fp16/bert: 1.5 times faster than torch.onnx": False,
        "fp16/bert: CUDA graph, time of torch.compile's": True,
        "fp16/bert: nothing on the CPU": False,
        "fp16/unet: time of torch.onnx's": True,
        "fp16/unet: nothing on the CPU": True,
        "decoder/fp16: time of the builder's prompt": False,
        "decoder/fp16: time of the builder's token": True,
        "decoder/fp16: nodes": True,
        "architectures, fp32: right": True,
        "architectures, fp32: nothing on the CPU": False,
        "architectures, fp16: right": False,
        "architectures, fp16: nothing on the CPU": True,
    }
