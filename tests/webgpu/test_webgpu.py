"""A sample of `make webgpu`: answers and nodes of models on ONNX Runtime's WebGPU provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from .checking import MOST, missing, outcome

_MISSING = missing()
pytestmark = pytest.mark.skipif(bool(_MISSING), reason=_MISSING or "runs")


@pytest.mark.parametrize("name", ["resnet", "llama"])
def test_answers(name: str, tmp_path: Path) -> None:
    found = outcome(name, tmp_path)
    assert found.difference < MOST
    assert found.webgpu > 20
    if name == "resnet":
        assert not found.off
