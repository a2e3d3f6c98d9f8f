"""Runs jobs in the WebAssembly module, by Node.js."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

BUILD = Path(os.environ.get("SARDONYX_WASM_BUILD", Path(__file__).parents[2] / "build-wasm"))
PACKAGE = BUILD / "npm"


def why_not() -> str:
    """Why there is no module to run; empty where there is."""
    if not (PACKAGE / "sardonyx.wasm").exists():
        return "there is no WebAssembly module: `make wasm` builds it"
    return "" if shutil.which("node") else "there is no Node.js"


def run_jobs(jobs: list[dict[str, Any]], timeout: float = 300) -> dict[str, Any]:
    """What driver.mjs prints of jobs; paths become texts."""
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("driver.mjs")), str(PACKAGE)],
        input=json.dumps(jobs, default=str),
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result
