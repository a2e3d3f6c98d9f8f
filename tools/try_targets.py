"""Tries each row of ONNX Runtime's tables again, in the installed release: `make targets`.

A row's test in tests/targets shows its fault in the runtime alone. Reported are rows whose fault
is gone (they get `.until`), rows with `.until` whose fault is still there, kernels that
tools/kernels does not have, and node models of the onnx package that the release computes
otherwise than the package, after `optimize` too. Exits with 1 if anything is to be done.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import onnxruntime

from sardonyx import _native

ROOT = Path(__file__).resolve().parent.parent


def release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def outcomes() -> dict[str, bool]:
    """By test function of tests/targets: whether it passes, with all parameters."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "tests/targets", f"--junitxml={report}"]
        environment = {**os.environ, "SARDONYX_TARGETS_AS_THEY_ARE": "1"}
        subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=sys.stderr)
        cases = list(ET.parse(report).iter("testcase"))
    passes: dict[str, bool] = {}
    for case in cases:
        name = case.attrib["name"].split("[")[0]
        failed = case.find("failure") is not None or case.find("error") is not None
        passes[name] = passes.get(name, True) and not failed
    return passes


def rows() -> dict[str, dict[str, Any]]:
    """Of all targets that are ONNX Runtime, by name."""
    return {
        row["name"]: row
        for target in _native.target_tables()
        if target["name"].startswith("onnxruntime")
        for row in target["rules"]
    }


def findings(
    table: dict[str, dict[str, Any]], passes: dict[str, bool], installed: str
) -> list[str]:
    found = []
    for name, row in sorted(table.items()):
        shown = passes.get("test_" + name.replace("-", "_"))
        is_fixed = row["until"] is not None and release(row["until"]) <= release(installed)
        if shown is None:
            found.append(f"{name}: no test")
        elif not shown and not is_fixed:
            found.append(f'{name}: no longer needed; .until = "{installed}"')
        elif shown and is_fixed:
            found.append(f"{name}: the fault is still there, though .until is {row['until']}")
    return found


def new_faults() -> list[str]:
    sys.path.insert(0, str(ROOT))
    from tests.node_models.cases import load_cases
    from tests.node_models.outcomes import runtime_fault

    found = []
    for case in load_cases():
        fault = runtime_fault(case)
        if fault:
            found.append(f"{case.name}: {fault}")
    return found


def main() -> int:
    installed = ".".join(onnxruntime.__version__.split(".")[:2])
    table = rows()
    print(f"ONNX Runtime {onnxruntime.__version__}: {len(table)} rows")
    found = findings(table, outcomes(), installed)
    generator = [sys.executable, str(ROOT / "tools" / "generate_kernels.py"), "--check"]
    if subprocess.run(generator, check=False).returncode != 0:
        found.append("kernels: run tools/generate_kernels.py")
    faults = new_faults()
    for line in [*found, *(f"node model {fault}" for fault in faults)]:
        print(line)
    print(f"{len(found)} rows to change, {len(faults)} node models that it computes otherwise")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
