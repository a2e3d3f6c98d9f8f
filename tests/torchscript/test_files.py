"""Archives of TorchScript through the command line, against the interpreter."""

from __future__ import annotations

import os
import subprocess
import warnings
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch

from .programs import PROGRAMS, REFUSED

_BUILD = Path(os.environ.get("SARDONYX_BUILD", Path(__file__).parents[2] / "build"))
_CLI = _BUILD / "bin" / "sardonyx"
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def _convert(archive: Path, *arguments: str) -> Path:
    model = archive.with_suffix(".onnx")
    command = [str(_CLI), "convert", str(archive), "-o", str(model), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    onnx.checker.check_model(model, full_check=True)
    return model


def _flat(value: object) -> list[object]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flat(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _flat(item)]
    return [value]


def _compare(program: torch.jit.ScriptModule, model: Path, args: tuple[object, ...]) -> None:
    expected = _flat(program(*[a.clone() if isinstance(a, torch.Tensor) else a for a in args]))
    for level in (
        ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
        ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
    ):
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_inputs()]
        # Numbers of Python are float32 as inputs.
        given = [np.asarray(a, np.float32 if isinstance(a, float) else None) for a in args]
        found = session.run(None, dict(zip(names, given, strict=True)))
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            wanted = np.asarray(theirs.detach() if isinstance(theirs, torch.Tensor) else theirs)
            assert ours.shape == wanted.shape
            if isinstance(theirs, torch.Tensor):
                assert ours.dtype == wanted.dtype
            np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_scripted_programs_are_equal_at_every_size(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    archive = tmp_path / "model.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scripted = torch.jit.script(program.module.eval())
        scripted.save(archive)
    model = _convert(archive, *[part for each in program.inputs for part in ("--input", each)])
    for args in program.runs:
        _compare(scripted, model, args)


def test_traced_modules_take_their_sizes_from_the_example(tmp_path: Path) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1)
            self.norm = torch.nn.BatchNorm2d(4)
            self.pool = torch.nn.MaxPool2d(3, 2, 1)
            self.last = torch.nn.Linear(4, 5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.pool(torch.relu(self.norm(self.conv(x))))
            y = torch.nn.functional.interpolate(y, scale_factor=2.0)
            return self.last(y.mean((2, 3)).view(x.shape[0], -1))

    archive = tmp_path / "model.pt"
    traced = torch.jit.trace(Net().eval(), torch.randn(1, 3, 16, 16))
    traced.save(archive)
    _compare(traced, _convert(archive), (torch.randn(1, 3, 16, 16),))
    freed = _convert(archive, "--dynamic", "x:0,2,3")
    for size in ((2, 3, 32, 20), (1, 3, 16, 16)):
        _compare(traced, freed, (torch.randn(size),))


def test_what_is_not_known_of_inputs_is_asked_for(tmp_path: Path) -> None:
    archive = tmp_path / "model.pt"
    torch.jit.script(PROGRAMS["straight"].module).save(archive)
    with pytest.raises(RuntimeError, match=r"SX1122.*nothing says what the input 'x' is"):
        _convert(archive)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_said_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    module, pattern = REFUSED[name]
    archive = tmp_path / "model.pt"
    torch.jit.script(module).save(archive)
    with pytest.raises(RuntimeError, match=f"(?s){pattern}.*programs.py:"):
        _convert(archive, "--input", "x:float32[n,4]")


@pytest.mark.parametrize("kind", ["bert", "encoder"])
def test_traced_transformers_keep_their_sizes_free(kind: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    example, other = torch.randn(2, 5, 16), torch.randn(3, 9, 16)
    if kind == "bert":
        transformers = pytest.importorskip("transformers")
        config = transformers.BertConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
            vocab_size=50,
        )  # fmt: skip
        bert = transformers.BertModel(config).eval()
        model: torch.nn.Module = _First(bert)
        example, other = torch.randint(50, (2, 7)), torch.randint(50, (3, 5))
    else:
        layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        model = _First(torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False))
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        traced = torch.jit.trace(model.eval(), example, check_trace=False)
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
    archive = tmp_path / "model.pt"
    traced.save(archive)
    freed = _convert(archive, "--dynamic", "x:0,1")
    for given in (example, other):
        _compare(traced, freed, (given,))


class Older(torch.nn.Module):
    """Operators that meant something else in older archives."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return torch.div(x, 3), x.clone().div_(2), torch.div(x, 2.5)


@pytest.mark.parametrize("version", [3, 10])
def test_operators_mean_what_they_did_when_the_archive_was_written(
    version: int, tmp_path: Path
) -> None:
    archive, older = tmp_path / "new.pt", tmp_path / "model.pt"
    torch.jit.script(Older()).save(archive)
    with zipfile.ZipFile(archive) as read, zipfile.ZipFile(older, "w") as written:
        for entry in read.infolist():
            data = read.read(entry)
            is_version = entry.filename.endswith("/version") and "data" not in entry.filename
            written.writestr(entry.filename, f"{version}\n".encode() if is_version else data)
    kind = "int64" if version == 3 else "float32"  # in-place division of integers is refused today
    model = _convert(older, "--input", f"x:{kind}[n]")
    values = torch.tensor([-7, -1, 0, 5, 8], dtype=getattr(torch, kind))
    _compare(torch.jit.load(older), model, (values,))


class _First(torch.nn.Module):
    """The first result of a model."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        given = self.model(x)
        return given if isinstance(given, torch.Tensor) else given[0]


class _Counted(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        return torch.cat([x, torch.ones(n, 4)])


def test_a_number_is_no_dimension_of_its_name(tmp_path: Path) -> None:
    scripted = torch.jit.script(_Counted())
    scripted.save(tmp_path / "model.pt")
    model = _convert(tmp_path / "model.pt", "--input", "x:float32[n,4]", "--input", "n:int")
    for rows, count in ((3, 2), (1, 0), (2, 5)):
        _compare(scripted, model, (torch.randn(rows, 4), count))


class _Newer(torch.nn.Module):
    """gelu() has a version of its own: it stands in another entry than those of older archives."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.nn.functional.gelu(x), torch.arange(5) / 2


def test_archives_say_their_version_in_two_places(tmp_path: Path) -> None:
    program = torch.jit.script(_Newer())
    path = tmp_path / "newer.pt"
    program.save(str(path))
    with zipfile.ZipFile(path) as archive:
        assert "newer/.data/version" in archive.namelist()
        assert "newer/version" not in archive.namelist()
    x = torch.randn(3, 4)
    _compare(program, _convert(path, "--input", "x:float32[3,4]"), (x,))
