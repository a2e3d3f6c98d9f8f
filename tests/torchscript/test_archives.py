"""Archives of releases of PyTorch since 1.13, against the answers that these gave."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import sardonyx

_FOLDERS = [Path(__file__).parent / "archives"]
if _more := os.environ.get("SARDONYX_ARCHIVES"):  # of tools/write_archives.sh
    _FOLDERS.append(Path(_more))
_RELEASES = sorted(path for folder in _FOLDERS for path in folder.glob("torch-*.zip"))


def _array(written: Any) -> np.ndarray[Any, Any]:
    if not isinstance(written, dict):
        return np.asarray(written, np.float32 if isinstance(written, float) else None)
    return np.array(written["values"], written["dtype"]).reshape(written["shape"])


def check(archive: Path, case: dict[str, Any]) -> None:
    """Raises where the archive's model does not give what its release gave."""
    model = sardonyx.convert(archive, inputs=case["inputs"]).model_proto
    onnx.checker.check_model(model, full_check=True)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    for run in case["runs"]:
        given = [_array(each) for each in run["given"] if each is not None]
        found = session.run(None, dict(zip(names, given, strict=True)))
        found = [each for one in found for each in (one if isinstance(one, list) else [one])]
        assert len(found) == len(run["answers"])
        for ours, written in zip(found, run["answers"], strict=True):
            theirs = _array(written)
            assert ours.shape == theirs.shape
            assert ours.dtype == theirs.dtype or theirs.ndim == 0
            tolerance = 1e-3 if theirs.dtype == np.float16 else 1e-4
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=1e-5)


@pytest.mark.parametrize("release", _RELEASES, ids=lambda path: path.stem)
def test_every_program_of_a_release(release: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(release) as zipped:
        zipped.extractall(tmp_path)
    answers = json.loads((tmp_path / "answers.json").read_text())
    assert len(answers) >= 27
    wrong = {}
    for name, case in answers.items():
        try:
            check(tmp_path / f"{name}.pt", case)
        except Exception as error:
            wrong[name] = f"{type(error).__name__}: {error}"[:2000]
    assert not wrong, "\n".join(f"{name}: {what}" for name, what in wrong.items())


def test_releases_of_several_years_are_there() -> None:
    assert len(_RELEASES) >= 3
