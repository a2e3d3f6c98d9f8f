"""Saving says how far it is where somebody looks, and an interrupt leaves what was there before."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import torch

import sardonyx
from sardonyx import _native
from sardonyx._base import bytes_written


def program() -> sardonyx.ONNXProgram:
    model = torch.nn.Linear(1000, 2000)
    return sardonyx.export(model, (torch.randn(2, 1000),))


def test_a_bar_where_somebody_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = program()
    made.save(tmp_path / "unseen.onnx")
    assert "writing" not in capsys.readouterr().err
    monkeypatch.setattr(bytes_written, "_is_watched", lambda: True)
    monkeypatch.setattr(bytes_written, "_SECONDS", 0)
    made.save(tmp_path / "seen.onnx")
    assert "writing seen.onnx" in capsys.readouterr().err
    assert (tmp_path / "seen.onnx").read_bytes() == (tmp_path / "unseen.onnx").read_bytes()


def test_an_interrupt_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_text("before")

    def interrupt(done: int, total: int) -> None:
        assert 0 <= done <= total
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            _native.write(program()._native, str(path), progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]
