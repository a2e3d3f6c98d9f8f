"""What `make fuzz` found ends in an answer or a diagnostic now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.command import run_command

FINDINGS = sorted((Path(__file__).parent / "findings").glob("*/*"))

# What a reader does, as words of the command.
_TARGETS = (
    ("--opset", "13"),
    ("--runtime", "onnxruntime-cpu"),
    ("--opset", "23", "--precision", "fp16"),
    ("--runtime", "onnxruntime-genai", "--precision", "int4", "--functions"),
)
_COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "optimize": (("optimize",),),
    "targets": tuple(("optimize", *words) for words in _TARGETS),
    "torchscript": (("convert", "--input", "x:float32[n,3]"),),
}


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_findings_stay_mended(finding: Path, tmp_path: Path) -> None:
    for command, *words in _COMMANDS.get(finding.parent.name, (("inspect",),)):
        if command != "inspect":
            words += ["-o", str(tmp_path / "out.onnx")]
        done = run_command(command, finding, *words)
        assert done.returncode in (0, 1), (words, done.stderr)
        assert done.returncode == 0 or "error[SX" in done.stderr, (words, done.stderr)
