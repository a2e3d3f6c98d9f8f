"""The examples of docs/custom-operators.md, run one after the other."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "custom-operators.md"
BLOCK = re.compile(r"(?:<!-- file: (\S+) -->\n)?```python\n(.*?)```", re.DOTALL)


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxscript")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) > 7
    for number, (file, code) in enumerate(blocks):
        if not file:
            exec(compile(code, f"{PAGE.name}, block {number}", "exec"), names)
            continue
        # onnxscript reads the source of what it compiles, which must be in a file.
        (tmp_path / file).write_text(code)
        spec = importlib.util.spec_from_file_location(Path(file).stem, tmp_path / file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        names.update(vars(module))
