"""`make bench-cuda` and `make bench-kernels PROVIDER=cuda` as they are without a GPU."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from bench import kernels
from bench.cuda import __main__ as bench
from bench.cuda import makers, models, placing, timing

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
