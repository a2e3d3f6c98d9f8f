"""A checkpoint that ends while it is read, a disk that fills, an interrupt: one diagnostic, and
what was there stays, whichever thread was at the weights."""

from __future__ import annotations

import gc
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

import sardonyx
from sardonyx._model.weight_files import weights_in

OLD = b"what was there before"
ROWS = 1536  # of two matrices, each of which is written in several parts


class Two(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = torch.nn.Parameter(torch.randn(ROWS, ROWS))
        self.b = torch.nn.Parameter(torch.randn(ROWS, ROWS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.a @ self.b.t()


# How weights get into the file: as they lie there, or cast by several threads.
FORMS: dict[str, dict[str, Any]] = {
    "copied": {},
    "cast": {"precision": "fp16"},
}


class Case:
    """A model over the weights of a file, and a destination that has something."""

    def __init__(self, form: str, folder: Path) -> None:
        self.form = form
        model = Two()
        self.checkpoint, self.out = folder / "w.safetensors", folder / "out" / "model.onnx"
        self.out.parent.mkdir()
        self.out.write_bytes(OLD)
        safetensors.torch.save_file(model.state_dict(), self.checkpoint)
        program = sardonyx.export(model, (torch.zeros(1, ROWS),), optimize=False)
        options = FORMS[form]
        self.program = sardonyx.optimize(program, **options).model if options else program
        self.program.apply_weights(self.checkpoint)

    def save(self) -> None:
        self.program.save(self.out, external_data=True)

    def assert_untouched(self) -> None:
        assert self.out.read_bytes() == OLD
        assert [path.name for path in self.out.parent.iterdir()] == [self.out.name]


@pytest.fixture(params=FORMS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(request.param, tmp_path)


def test_a_checkpoint_that_is_cut_short_while_it_is_read(case: Case) -> None:
    os.truncate(case.checkpoint, case.checkpoint.stat().st_size // 2)
    with pytest.raises(sardonyx.OnnxExporterError) as caught:
        case.save()
    # The kernel copies what lies there as it is to be written.
    copied = case.form == "copied"
    assert [each.code for each in caught.value.diagnostics] == ["SX1601" if copied else "SX1101"]
    assert "was cut short" in str(caught.value)
    case.assert_untouched()


def test_a_file_that_is_cut_short_while_pytorch_reads_it(tmp_path: Path) -> None:
    from sardonyx.hf.checkpoints.weights import mapped, reading_files

    gc.collect()  # an error that was caught holds its frames, and these a file that was cut short
    path = tmp_path / "w.safetensors"
    safetensors.torch.save_file({"a": torch.ones(1 << 18)}, path)
    (place,) = weights_in(path)
    tensor = mapped(place)
    tensor[0] = 2  # the file stays as it is

    @reading_files()
    def total() -> torch.Tensor:
        os.truncate(path, 1 << 14)
        return tensor.sum()

    with pytest.raises(sardonyx.OnnxExporterError, match=r"SX1101.*was cut short"):
        total()


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_fills(case: Case) -> None:
    with files_of_at_most(1 << 20), pytest.raises(sardonyx.SaveError) as caught:
        case.save()
    assert [each.code for each in caught.value.diagnostics] == ["SX1601"]
    case.assert_untouched()


def test_an_interrupt_while_weights_are_written(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It arrives between two parts; other threads are at theirs."""
    calls: list[int] = []

    @contextmanager
    def interrupting(_: object) -> Iterator[Callable[[int, int], None]]:
        def interrupt(done: int, total: int) -> None:
            calls.append(done)
            if len(calls) == 2:
                signal.raise_signal(signal.SIGINT)

        yield interrupt

    monkeypatch.setattr("sardonyx._model.program.bytes_written", interrupting)
    # A process that a shell started in the background ignores interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            case.save()
    finally:
        signal.signal(signal.SIGINT, before)
    case.assert_untouched()
    monkeypatch.undo()
    case.save()
    assert case.out.read_bytes() != OLD
