"""Every system call of writing and reading fails once: what was there stays, or is replaced whole,
nothing else is left behind, and the command says why."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.harness.command import command_path

ERRORS = ("ENOSPC", "EIO", "EROFS", "EINTR")
OLD = b"what was there before"


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    made = tmp_path_factory.mktemp("shim") / "shim.so"
    source = Path(__file__).parent / "shim.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With enough of a weight that several writes are needed."""
    weight = numpy_helper.from_array(np.arange(300_000, dtype=np.float32).reshape(3, -1), "w")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 100_000])
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [weight]
    )
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path
    )
    return path


class Trial:
    """One run of the command, with a fault in it."""

    def __init__(self, shim: Path, model: Path, folder: Path, *words: str) -> None:
        self.shim, self.model, self.folder, self.words = shim, model, folder, words
        self.out = folder / "out" / "made.onnx"

    def run(self, at: int, of: str = "write", **fault: str) -> subprocess.CompletedProcess[str]:
        """With a file at the destination beforehand."""
        shutil.rmtree(self.out.parent, ignore_errors=True)
        self.out.parent.mkdir(parents=True)
        self.out.write_bytes(OLD)
        self.log = self.folder / "calls.txt"
        self.log.unlink(missing_ok=True)
        settings = {"FAULT_AT": str(at), "FAULT_OF": of, "FAULT_LOG": str(self.log), **fault}
        return subprocess.run(
            [command_path(), "optimize", self.model, "-o", self.out, *self.words],
            env={**os.environ, "LD_PRELOAD": str(self.shim), **settings},
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    def left(self) -> set[str]:
        return {path.name for path in self.out.parent.iterdir()}


@pytest.fixture(params=["one file", "two files"])
def trial(request: pytest.FixtureRequest, shim: Path, model: Path, tmp_path: Path) -> Trial:
    words = ("--external-data", "always") if request.param == "two files" else ()
    made = Trial(shim, model, tmp_path, *words)
    done = made.run(-1)
    assert done.returncode == 0, done.stderr
    made.new = {path.name: path.read_bytes() for path in made.out.parent.iterdir()}
    made.count = len(made.calls())
    assert made.count >= 5
    return made


@pytest.mark.parametrize("name", ERRORS)
def test_writing_fails_anywhere(trial: Trial, name: str) -> None:
    number = str(getattr(errno, name))
    for at in range(trial.count):
        done = trial.run(at, FAULT_ERRNO=number)
        call = trial.calls()[at]
        assert done.returncode in (0, 1), f"{call}: {done.returncode} {done.stderr}"
        _assert_old_or_new(trial, done, call)


def test_writes_that_are_short(trial: Trial) -> None:
    for at in range(trial.count):
        done = trial.run(at, FAULT_SHORT="1")
        assert done.returncode == 0, done.stderr
        assert {p.name: p.read_bytes() for p in trial.out.parent.iterdir()} == trial.new


def test_killed_anywhere(trial: Trial) -> None:
    """The model is old or new. A killed process cannot tidy up: between two system calls the new
    file may have a name of its own, and the old one a second name."""
    for at in range(trial.count):
        done = trial.run(at, FAULT_KILL="1")
        assert done.returncode == -signal.SIGKILL
        assert trial.out.read_bytes() in (OLD, trial.new["made.onnx"])
        others = trial.left() - trial.new.keys()
        assert all(name.startswith(".sardonyx-") for name in others), others
        assert len(others) <= 2 * len(trial.new)


@pytest.mark.parametrize("name", ["EIO", "EACCES", "ENOMEM", "EMFILE"])
def test_reading_fails_anywhere(shim: Path, model: Path, tmp_path: Path, name: str) -> None:
    trial = Trial(shim, model, tmp_path)
    assert trial.run(-1, "read").returncode == 0
    new = trial.out.read_bytes()
    count = len(trial.calls())
    assert count >= 2
    done_all_the_same = 0
    for at in range(count):
        done = trial.run(at, "read", FAULT_ERRNO=str(getattr(errno, name)))
        assert trial.left() == {"made.onnx"}
        if done.returncode == 0:
            # The file of weights is opened, and looked at, for the kernel to copy from it; where
            # that fails they are written from memory.
            done_all_the_same += 1
            assert trial.out.read_bytes() == new
            continue
        assert done.returncode == 1, f"{trial.calls()[at]}: {done.stderr}"
        assert "error[SX1" in done.stderr
        assert trial.out.read_bytes() == OLD
    assert done_all_the_same <= 2


def test_two_writers_of_one_file(model: Path, tmp_path: Path) -> None:
    """One of them wins."""
    out = tmp_path / "out" / "made.onnx"
    out.parent.mkdir()
    command = [command_path(), "optimize", model, "-o", out]
    for _ in range(5):
        runs = [subprocess.Popen(command) for _ in range(4)]
        assert [run.wait() for run in runs] == [0] * 4
        assert [path.name for path in out.parent.iterdir()] == ["made.onnx"]
        onnx.checker.check_model(onnx.load(out))


def _assert_old_or_new(trial: Trial, done: subprocess.CompletedProcess[str], call: str) -> None:
    content = {path.name: path.read_bytes() for path in trial.out.parent.iterdir()}
    if done.returncode == 0:
        # What tidies up may fail, and then something is left.
        known = {n: b for n, b in content.items() if not n.startswith(".sardonyx-")}
        assert known == trial.new, call
        assert known == content or call == "unlink", content.keys()
    else:
        assert "error[SX1601]" in done.stderr, done.stderr
        assert content == {"made.onnx": OLD}, (call, content.keys())
