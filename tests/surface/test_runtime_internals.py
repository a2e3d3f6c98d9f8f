"""Private API of ONNX Runtime: in one module, and asked for before it is used."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import onnxruntime
import pytest

import sardonyx
from sardonyx._runtime import registered

ROOT = Path(__file__).resolve().parents[2]
HOME = "python/sardonyx/_runtime/registered.py"
CHECK = "tools/check_torch_private.py"  # names what it refuses
# The extension module, and members that the package itself marks as its own.
PRIVATE = re.compile(
    r"onnxruntime\.capi|onnxruntime_pybind11_state|_get_c_value|\._sess\b|\._ortvalue\b"
)


def test_no_other_file_reaches_it() -> None:
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "python/*.py", "tools/*.py", "bench/*.py"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    files = [name for name in listed.stdout.split() if name not in (HOME, CHECK)]
    found = [name for name in files if PRIVATE.search((ROOT / name).read_text(encoding="utf-8"))]
    assert found == []


def test_what_it_registers_is_listed() -> None:
    assert any(each.op_name == "MatMul" for each in registered.kernels())
    assert any(each.domain == "com.microsoft" for each in registered.schemas())


def test_a_release_without_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registered, "_EXTENSIONS", ("onnxruntime.capi.elsewhere", "onnxruntime"))
    with pytest.raises(sardonyx.OnnxExporterError, match="get_all_opkernel_def") as raised:
        registered.kernels()
    assert onnxruntime.__version__ in str(raised.value)
