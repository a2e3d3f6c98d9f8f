"""What users get wrong most: each error says what is wrong in their words, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim

import sardonyx
from tests.harness.command import run_command


class Scorer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


class WithoutKernel(torch.nn.Module):
    """Its operator has a translation, and nothing that computes it here."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("no kernel")


X = torch.ones(2, 8)
UP_TO_8 = Dim.DYNAMIC(max=8)
MISTAKES: list[tuple[str, Callable[[], Any], str, str]] = [
    (
        "a path as the model",
        lambda: sardonyx.export("model.pt2"),  # type: ignore[arg-type]  # the mistake
        "model is a str, not a module or a function",
        "sardonyx.convert(path)",
    ),
    (
        "a state dict as the model",
        lambda: sardonyx.export(Scorer().state_dict(), (X,)),  # type: ignore[arg-type]  # likewise
        "model is a OrderedDict",
        "load_state_dict()",
    ),
    (
        "a class as the model",
        lambda: sardonyx.export(Scorer, (X,)),
        "model is a type",
        "Scorer(...)",
    ),
    (
        "a word that is not auto",
        lambda: sardonyx.export(Scorer(), (X,), dynamic_shapes="atuo"),
        "dynamic_shapes is a str",
        '"auto" is the only string',
    ),
    (
        "an axis too many",
        lambda: sardonyx.export(Scorer(), (X,), dynamic_shapes=[{2: "batch"}]),
        "x has 2 dimensions, and no dimension 2",
        "from 0 to 1",
    ),
    (
        "a size that is not the example's",
        lambda: sardonyx.export(Scorer(), (X,), dynamic_shapes={"x": {-2: 3}}),
        "dynamic_shapes has 3 for dimension 0 of x, and the example 2",
        "a name makes it dynamic",
    ),
    (
        "an example below a dimension's range",
        lambda: sardonyx.export(Scorer(), (X,), dynamic_shapes=[{0: Dim("batch", min=4)}]),
        "dimension 0 of x is 'batch' with sizes 4.., and the example has 2",
        "give an example within the range",
    ),
    (
        "an example above a dimension's range",
        lambda: sardonyx.export(Scorer(), (torch.ones(9, 8),), dynamic_shapes=[{0: UP_TO_8}]),
        "dimension 0 of x is a dynamic dimension with sizes 0..8, and the example has 9",
        "declare a range that has the example's size",
    ),
    (
        "a name of no input",
        lambda: sardonyx.export(Scorer(), (X,), dynamic_axes={"data": [0]}),
        "dynamic_axes names 'data'",
        "the inputs are 'x'; input_names renames them",
    ),
]


@pytest.mark.parametrize("case", MISTAKES, ids=[case[0] for case in MISTAKES])
def test_arguments(case: tuple[str, Callable[[], Any], str, str]) -> None:
    _, mistake, message, help_text = case
    with pytest.raises(sardonyx.errors.UsageError) as caught:
        mistake()
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert help_text in diagnostic.help


def test_a_number_that_is_the_examples_fixes_a_dimension() -> None:
    program = sardonyx.export(Scorer().eval(), (X,), dynamic_shapes=[{0: 2}])
    assert list(program.model.graph.inputs[0].shape) == [2, 8]


def test_inputs_that_the_model_itself_rejects(capfd: pytest.CaptureFixture[str]) -> None:
    """The error is the model's, with nothing of the strategies that were tried."""
    with pytest.raises(sardonyx.CaptureError, match="raises on the example inputs") as caught:
        sardonyx.export(Scorer(), (torch.ones(2, 9),), dynamic_shapes=[{0: "batch"}])
    (diagnostic,) = caught.value.diagnostics
    assert "2x9 and 8x4" in diagnostic.message
    assert (diagnostic.file, diagnostic.code) == (__file__, "SX1003")
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert "Traceback" not in capfd.readouterr().err


def test_an_operator_without_a_kernel_is_no_mistake_of_the_inputs() -> None:
    with pytest.raises(sardonyx.CaptureError, match="could not be captured"):
        sardonyx.export(WithoutKernel(), (X,))


def test_warnings_have_their_code_and_say_what_to_do() -> None:
    model = torch.nn.Sequential(Scorer(), torch.nn.Dropout())
    with pytest.warns(UserWarning, match=r"\[SX1025\]\n  help: call model.eval\(\) first"):
        sardonyx.export(model, (X,))


def test_a_dimension_that_the_model_fixes() -> None:
    with pytest.raises(sardonyx.CaptureError, match=r"is declared dynamic \('f'\)") as caught:
        sardonyx.export(Scorer().eval(), (X,), dynamic_shapes=[{1: Dim("f")}])
    assert "Dim.AUTO" in caught.value.diagnostics[0].help


@pytest.fixture
def model(tmp_path: Path) -> Path:
    sardonyx.export(Scorer().eval(), (X,), tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def test_a_precision_that_changes_no_weight_is_noted(model: Path) -> None:
    out = model.with_name("small.onnx")
    done = run_command("optimize", model, "-o", out, "--precision", "int4")
    assert done.returncode == 0
    assert "no weight was converted to int4: linear.weight: 8 weights" in done.stderr
    assert "no weight" not in run_command("optimize", model, "-o", out).stderr
    done = run_command("optimize", model, "-o", out, "--precision", "fp16")
    assert "no weight" not in done.stderr


def test_quantization_without_samples(model: Path) -> None:
    done = run_command("quantize", model, "-o", model.with_name("q.onnx"))
    assert done.returncode == 2
    assert "--data, --random or --stats" in done.stderr


@pytest.mark.parametrize("name", ["gpt2", "org/model"])
def test_the_name_of_a_repository(name: str, tmp_path: Path) -> None:
    done = run_command("hf", name, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert f"hf download {name} --local-dir" in done.stderr


@pytest.mark.parametrize("name", ["notes.txt", "notes.onnx"])
@pytest.mark.parametrize("content", [b"", b"a few words", b"a few words more, and no model" * 9])
def test_files_that_are_no_program_or_model(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    done = run_command("inspect", tmp_path / name)
    assert done.returncode == 1
    assert "damaged" not in done.stderr
    if name.endswith(".txt"):
        assert ("is no zip archive" if content else "is empty") in done.stderr
        assert "ends in .onnx" in done.stderr
