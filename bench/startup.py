"""How long `import sardonyx` takes, and what it brings along."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import Any

_HEAVY = ("torch", "onnx", "onnxruntime", "numpy", "onnxscript", "onnx_ir")
_PROGRAM = """
import json, sys, time
before = set(sys.modules)
began = time.perf_counter()
import {module}
seconds = time.perf_counter() - began
print(json.dumps([seconds, [m for m in {heavy} if m in sys.modules]]))
"""


def measure() -> dict[str, Any]:
    ours, heavy = _imports("sardonyx", 11)
    theirs, _ = _imports("torch.onnx", 3)
    return {
        "import_milliseconds": 1e3 * ours,
        "imports_torch": "torch" in heavy,
        "also_imported": heavy,
        "import_torch_onnx_milliseconds": 1e3 * theirs,
        "times_faster": theirs / ours,
    }


def _imports(module: str, times: int) -> tuple[float, list[str]]:
    seconds, heavy = [], []
    for _ in range(times):
        text = _PROGRAM.format(module=module, heavy=_HEAVY)
        said = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, check=True
        ).stdout
        taken, heavy = json.loads(said.splitlines()[-1])
        seconds.append(taken)
    return statistics.median(seconds), heavy
