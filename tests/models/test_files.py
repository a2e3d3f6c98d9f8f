"""From a .pt2 file the command line writes the very bytes that the live program is saved as."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.harness import export
from tests.harness.command import run_command

from .decoding import cached_decoder
from .zoo import ZOO, Example


def _example(name: str) -> Example:
    return cached_decoder("llama") if name == "llama with a cache" else ZOO.build(name)


@pytest.mark.parametrize(
    "name", ["mlp", "cnn", "resnet50", "bert", "gpt2", "llama with a cache", "t5", "swin", "detr"]
)
def test_the_command_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    program = _example(name).captured()
    archive, ours, theirs = (tmp_path / n for n in ("model.pt2", "live.onnx", "command.onnx"))
    torch.export.save(program, archive)
    export(program).save(str(ours))
    done = run_command("convert", archive, "-o", theirs)
    assert done.returncode == 0, done.stderr
    assert theirs.read_bytes() == ours.read_bytes()


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    program = ZOO.build("bert").captured()
    for name in ("a.onnx", "b.onnx"):
        export(program).save(str(tmp_path / name))
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_external_data_holds_the_same_weights(tmp_path: Path) -> None:
    import onnx

    program = export(ZOO.build("gpt2").captured())
    program.save(str(tmp_path / "inside.onnx"))
    program.save(str(tmp_path / "beside.onnx"), external_data=True)
    inside, beside = (onnx.load(str(tmp_path / f"{n}.onnx")) for n in ("inside", "beside"))
    assert (tmp_path / "beside.onnx.data").exists()
    weights = {t.name: onnx.numpy_helper.to_array(t) for t in inside.graph.initializer}
    assert weights
    for tensor in beside.graph.initializer:
        assert (onnx.numpy_helper.to_array(tensor) == weights[tensor.name]).all()
