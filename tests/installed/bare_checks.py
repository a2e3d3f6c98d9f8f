"""What has to work in an environment that has numpy and sardonyx alone.

    python bare_checks.py FOLDER

The interpreter is that environment's; this file imports nothing else. FOLDER holds `small.pt2` and
takes what is written. Prints one line for each check, and ends with 1 where one fails.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sardonyx

# Packages whose presence would hide a failure.
ABSENT = ("torch", "sympy", "onnx", "onnxruntime", "onnx_ir", "transformers", "packaging")
MODULES = ("errors", "hf", "op", "operators", "ops", "symbolic_helper", "utils", "verification")
# At least these; the others are those that `sardonyx --help` lists.
COMMANDS = ("convert", "inspect", "optimize", "diff", "doctor", "hf", "run")


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """`python -m sardonyx` with these words."""
    return subprocess.run(
        [sys.executable, "-m", "sardonyx", *map(str, words)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def succeeds(*words: str | Path) -> str:
    """The standard output of a command that ends with 0."""
    ended = command(*words)
    assert ended.returncode == 0, f"{words} ended with {ended.returncode}: {ended.stderr}"
    return ended.stdout


def advice(what: Callable[[], Any]) -> str:
    """What the diagnostic of a missing package advises; empty where `what` ends well."""
    try:
        what()
    except sardonyx.OnnxExporterError as error:
        return error.diagnostics[0].help
    return ""


def the_environment_is_bare(folder: Path) -> None:
    """Nothing else is importable."""
    found = [name for name in ABSENT if importlib.util.find_spec(name) is not None]
    assert not found, found


def modules_are_importable(folder: Path) -> None:
    """Every public module."""
    for name in MODULES:
        importlib.import_module(f"sardonyx.{name}")


def names_are_there_or_name_the_package(folder: Path) -> None:
    """Every public name; those that stand on torch say so."""
    for name in sardonyx.__all__:
        assert advice(lambda name=name: getattr(sardonyx, name)) in {"", "pip install torch"}
    for name in ("convert", "optimize", "export", "ONNXProgram", "Precision", "errors"):
        getattr(sardonyx, name)


def convert(folder: Path) -> None:
    """A .pt2 file, to a program and a file."""
    program = sardonyx.convert(folder / "small.pt2", opset_version=18)
    program.save(folder / "small.onnx")
    assert program.opset_version == 18
    assert program.node_count > 0
    assert "graph" in str(program)
    assert (folder / "small.onnx").stat().st_size > 0


def convert_with_options(folder: Path) -> None:
    """Quantized weights, another runtime, no optimization."""
    given = ({"precision": "int8"}, {"target_runtime": "onnxruntime-cpu"}, {"optimize": False})
    for options in given:
        assert sardonyx.convert(folder / "small.pt2", **options).node_count > 0


def optimize(folder: Path) -> None:
    """An ONNX file, to a file and to a program."""
    done = sardonyx.optimize(folder / "small.onnx", folder / "optimized.onnx")
    assert done.report.nodes_after <= done.report.nodes_before
    assert sardonyx.optimize(folder / "small.onnx", precision="fp16").model.node_count > 0


def what_needs_a_package_names_it(folder: Path) -> None:
    """Diagnostics with the command that installs it."""
    program = sardonyx.convert(folder / "small.pt2")
    one = np.zeros((1, 4), np.float32)
    assert advice(lambda: program(one)) == "pip install torch"
    assert advice(lambda: program.apply_weights({"x": one})) == "pip install torch"
    assert advice(lambda: sardonyx.export(None, ())) == "pip install torch"
    assert advice(lambda: sardonyx.hf.export(folder)) == "pip install torch"
    assert advice(lambda: sardonyx.ops.attention) == "pip install torch"
    assert advice(lambda: sardonyx.symbolic_helper.cast_pytorch_to_onnx) == "pip install torch"
    assert advice(lambda: program.model_proto) == "pip install onnx"
    assert advice(lambda: program.model) == "pip install onnx"


def help_of_every_command(folder: Path) -> None:
    """`sardonyx COMMAND --help`."""
    _, _, lines = succeeds("--help").partition("Subcommands:")
    listed = re.findall(r"^  ([a-z]+) {2,}", lines, re.MULTILINE)
    assert set(COMMANDS) <= set(listed), listed
    for name in listed:
        assert f"sardonyx {name}" in succeeds(name, "--help"), name


def commands_of_files(folder: Path) -> None:
    """convert, inspect, optimize and diff from the command line."""
    first, second = folder / "first.onnx", folder / "second.onnx"
    succeeds("convert", folder / "small.pt2", "-o", first)
    succeeds("optimize", first, "-o", second)
    assert "inputs" in succeeds("inspect", first)
    assert "outputs" in succeeds("inspect", folder / "small.pt2")
    succeeds("diff", first, second)


def doctor(folder: Path) -> None:
    """It lists what is missing, and finds nothing broken."""
    told = json.loads(succeeds("doctor", "--json"))
    states = {each["subject"]: each["state"] for each in told["findings"]}
    assert told["ok"], told
    assert states["numpy"] == "ok", states
    assert states["torch"] == states["onnxruntime"] == "missing", states


def run_names_the_package(folder: Path) -> None:
    """Commands without what they run on."""
    model = folder / "small.onnx"
    for words, package in (
        (("run", model, "--random"), "onnxruntime"),
        (("quantize", model, "-o", folder / "int8.onnx", "--random", "2"), "onnxruntime"),
        (("calibrate", model, "-o", folder / "ranges.json", "--random", "2"), "onnxruntime"),
        (("hf", folder), "torch"),
    ):
        ended = command(*words)
        assert ended.returncode == 1, ended
        assert f"pip install {package}" in ended.stderr, ended.stderr
        assert "Traceback" not in ended.stderr, ended.stderr


CHECKS: tuple[Callable[[Path], None], ...] = (
    the_environment_is_bare,
    modules_are_importable,
    names_are_there_or_name_the_package,
    convert,
    convert_with_options,
    optimize,
    what_needs_a_package_names_it,
    help_of_every_command,
    commands_of_files,
    doctor,
    run_names_the_package,
)


def failures(folder: Path) -> Iterator[str]:
    """Runs all checks; prints how each ended, and gives the names of those that failed."""
    for check in CHECKS:
        try:
            check(folder)
        except Exception:
            print(f"failed {check.__name__}\n{traceback.format_exc()}")
            yield check.__name__
        else:
            print(f"passed {check.__name__}")


if __name__ == "__main__":
    sys.exit(1 if list(failures(Path(sys.argv[1]))) else 0)
