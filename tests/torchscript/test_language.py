"""Programs over the language of TorchScript, live and from the file, against the interpreter."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch
from torch.utils import _pytree as pytree

import sardonyx

from .language import CASES, REFUSED, Case

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def _dynamic(case: Case, names: list[str]) -> dict[str, Any]:
    """The sizes in which the runs differ from each other, as `dynamic_shapes`."""
    shapes = {}
    for i, (name, example) in enumerate(zip(names, case.runs[0], strict=False)):
        runs = [pytree.tree_leaves(run[i]) for run in case.runs if i < len(run)]
        leaves, spec = pytree.tree_flatten(example)
        axes = [
            _varying(f"{name}_{j}", [run[j] for run in runs if j < len(run)])
            for j in range(len(leaves))
        ]
        shapes[name] = pytree.tree_unflatten(axes, spec)
    return shapes


def _varying(name: str, values: list[Any]) -> dict[int, str] | None:
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if len(tensors) < len(values) or not tensors:
        return None
    sizes = zip(*(tensor.shape for tensor in tensors), strict=True)
    return {axis: f"{name}_{axis}" for axis, each in enumerate(sizes) if len(set(each)) > 1}


def _values(results: Any) -> list[np.ndarray[Any, Any]]:
    leaves = [r for r in pytree.tree_leaves(results) if r is not None and not isinstance(r, str)]
    return [leaf.detach().numpy() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]


def _feed(session: ort.InferenceSession, args: Any) -> dict[str, Any]:
    given = [leaf for leaf in pytree.tree_leaves(args) if not isinstance(leaf, (str, type(None)))]
    arrays = [np.asarray(leaf, np.float32 if isinstance(leaf, float) else None) for leaf in given]
    return {i.name: a for i, a in zip(session.get_inputs(), arrays, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_a_program_is_equal_live_and_from_its_file(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = case.program.eval() if isinstance(case.program, torch.nn.Module) else case.program
        scripted: Any = torch.jit.script(program)
    schema = scripted.forward.schema if isinstance(program, torch.nn.Module) else scripted.schema
    names = [argument.name for argument in schema.arguments if argument.name != "self"]
    example = copy.deepcopy(case.runs[0])
    live = sardonyx.export(scripted, example, dynamic_shapes=_dynamic(case, names))
    live.save(tmp_path / "live.onnx")
    onnx.checker.check_model(tmp_path / "live.onnx", full_check=True)

    scripted.save(str(tmp_path / "model.pt"))
    sardonyx.convert(tmp_path / "model.pt", inputs=live.captured.inputs).save(
        tmp_path / "file.onnx"
    )
    assert (tmp_path / "file.onnx").read_bytes() == (tmp_path / "live.onnx").read_bytes()

    session = ort.InferenceSession(tmp_path / "live.onnx", providers=["CPUExecutionProvider"])
    for args in case.runs:
        expected = _values(scripted(*copy.deepcopy(args)))
        found = pytree.tree_leaves(session.run(None, _feed(session, args)))
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            wanted = np.asarray(theirs)
            assert ours.shape == wanted.shape
            if isinstance(theirs, np.ndarray):
                assert ours.dtype == wanted.dtype
            np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_model_says_is_refused_with_its_line(name: str) -> None:
    program, pattern, line = REFUSED[name]
    scripted: Any = torch.jit.script(program)
    with pytest.raises(sardonyx.OnnxExporterError, match=pattern) as caught:
        sardonyx.export(scripted, (torch.ones(3, 4),), dynamic_shapes={"x": {0: "n"}})
    lines = Path(__file__).with_name("language").joinpath("refused.py").read_text().splitlines()
    places = [(d.file, d.line) for d in caught.value.diagnostics]
    assert not line or any(
        Path(f).name == "refused.py" and line in lines[n - 1] for f, n in places
    ), places


@pytest.mark.parametrize(("name", "given"), [("size_along", 2), ("stacked_along", -4)])
def test_a_run_ends_where_there_is_no_such_axis(name: str, given: int) -> None:
    assert_ends(name, given)


@pytest.mark.parametrize("given", [0, -1])
def test_a_run_ends_where_a_step_is_not_positive(given: int) -> None:
    assert_ends("steps_along", given)


def assert_ends(name: str, given: int) -> None:
    scripted: Any = torch.jit.script(CASES[name].program)
    example = CASES[name].runs[0]
    model = sardonyx.export(scripted, example).model_proto.SerializeToString()
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    wrong = (example[0], given)
    with pytest.raises((IndexError, RuntimeError)):
        scripted(*wrong)
    with pytest.raises(Exception, match=r"INVALID_ARGUMENT|FAIL|RUNTIME_EXCEPTION"):
        session.run(None, _feed(session, wrong))
