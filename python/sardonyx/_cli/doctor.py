"""`sardonyx doctor`: what is installed, whether it fits, and what would be slow here."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from sardonyx._base.versions import conflicts, fitting, installed, is_tested, tested_range

from .places import cmake_dir, native_command

# Modules whose features() says what of ours is available with the installed release of a package.
_FEATURES = {
    "sardonyx._capture.features": "torch",
    "sardonyx._transformers_private.features": "transformers",
    "sardonyx._diffusers_private.features": "diffusers",
}
# What each package is for, beside numpy, which comes along.
PACKAGES = {
    "torch": "captures models",
    "onnxruntime": "runs and verifies models",
    "onnx": "ModelProto, the checker",
    "onnx-ir": "editing models in Python",
    "onnxscript": "translators written as onnxscript functions",
    "transformers": "sardonyx hf",
    "numpy": "weights",
}


class Finding(NamedTuple):
    """One result: its state ("ok", "missing", "untested", "conflict", "disabled", "slow" or
    "broken"), its subject, the text, and what to do."""

    state: str
    subject: str
    text: str
    help: str = ""


def parser() -> argparse.ArgumentParser:
    """Of the command's options."""
    made = argparse.ArgumentParser(
        prog="sardonyx doctor", description="Check what is installed, and what would be slow here."
    )
    made.add_argument("--json", action="store_true", help="print the result as JSON")
    return made


def main(arguments: Sequence[str]) -> int:
    """Prints what is found; 1 where something keeps Sardonyx from working, else 0."""
    options = parser().parse_args(arguments)
    findings = list(examine())
    broken = any(finding.state == "broken" for finding in findings)
    if options.json:
        print(json.dumps({"ok": not broken, "findings": [each._asdict() for each in findings]}))
        return int(broken)
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        print(f"{finding.state:10}{finding.subject:{width}}  {finding.text}")
        if finding.help:
            print(f"{'':10}{'':{width}}  -> {finding.help}")
    return int(broken)


def examine() -> Iterator[Finding]:
    """All findings, what is installed first."""
    yield _of_python()
    yield from _of_native()
    for package, purpose in PACKAGES.items():
        yield _of_package(package, purpose)
    yield from _of_conflicts()
    yield from _of_features()
    yield _of_temporary_files()
    yield from _of_processor()


def _of_native() -> Iterator[Finding]:
    command = native_command()
    try:
        from sardonyx import _native
    except ImportError as error:
        yield Finding(
            "broken", "sardonyx", f"the extension cannot be loaded: {error}",
            "pip install --force-reinstall sardonyx, with the Python that is to use it",
        )  # fmt: skip
    else:
        yield Finding("ok", "sardonyx", f"{_native.version}, {Path(_native.__file__).parent}")
    if command is None:
        yield Finding("missing", "command", "the native program is not in this installation")
    else:
        yield Finding("ok", "command", str(command))
    yield Finding("ok", "find_package", str(cmake_dir() or "no C++ library in this installation"))


def _of_package(package: str, purpose: str) -> Finding:
    version = installed(package)
    if version is None:
        return Finding("missing", package, f"not installed; {purpose}", f"pip install {package}")
    if is_tested(package, version):
        return Finding("ok", package, f"{version}; {purpose}")
    return Finding(
        "untested", package, f"{version}; {_tested_text(package)}",
        f"pip install '{fitting(package)}'",
    )  # fmt: skip


def _of_python() -> Finding:
    version = platform.python_version()
    if is_tested("python", version):
        return Finding("ok", "python", f"{version}, {sys.executable}")
    return Finding("untested", "python", f"{version}, {sys.executable}; {_tested_text('python')}")


def _tested_text(package: str) -> str:
    oldest, newest = tested_range(package) or ("", "")
    return f"tested are {oldest} to {newest}"


def _of_conflicts() -> Iterator[Finding]:
    """Packages that do not fit together: by what they require, and where one does not load."""
    found = list(conflicts())
    for each in found:
        yield Finding("conflict", each.package, str(each), each.help)
    vision, torch = installed("torchvision"), installed("torch")
    if vision is None or torch is None or any(each.package == "torchvision" for each in found):
        return
    # It holds code that is built against one build of torch; loading it is the only proof.
    loaded = subprocess.run(
        [sys.executable, "-c", "import torchvision"], capture_output=True, text=True, check=False
    )
    if loaded.returncode != 0:
        reason = (loaded.stderr.strip().splitlines() or [""])[-1]
        yield Finding(
            "conflict", "torchvision", f"{vision} does not load with torch {torch}: {reason}",
            f"pip install --force-reinstall torchvision=={vision.partition('+')[0]} from the index "
            f"that torch {torch} came from",
        )  # fmt: skip


def _of_features() -> Iterator[Finding]:
    """Features of ours that an installed package lacks something for."""
    for module, package in _FEATURES.items():
        version = installed(package)
        if version is None:
            continue
        try:
            found = importlib.import_module(module).features()
        except Exception as error:  # whatever a package raises that does not load
            text = f"{package} {version} does not load: {type(error).__name__}: {error}"
            yield Finding("broken", package, text, f"pip install --force-reinstall {package}")
            continue
        available = [each for each in found if each.available]
        yield Finding("ok", "features", f"{len(available)} of {len(found)} that use {package}")
        for each in found:
            if not each.available:
                yield Finding("disabled", each.name, each.reason)


def _of_temporary_files() -> Finding:
    folder = tempfile.gettempdir()
    if not os.access(folder, os.W_OK):
        return Finding("broken", "temporary", f"{folder} cannot be written", "set TMPDIR")
    return Finding("ok", "temporary", folder)


def _of_processor() -> Iterator[Finding]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield Finding("ok", "cores", f"{cores} of {os.cpu_count()}")
    flags = _processor_flags()
    if not flags:
        return
    if not flags & {"avx2", "asimd"}:
        yield Finding("slow", "vectors", "no AVX2: every kernel of ONNX Runtime is slow here")
    if not flags & {"avx512_vnni", "avx_vnni", "asimddp"}:
        yield Finding(
            "slow", "int8", "no instructions for dot products of 8-bit integers",
            "int4 and int8 save memory here, and little time",
        )  # fmt: skip
    if not flags & {"avx512_fp16", "asimdhp"}:
        yield Finding(
            "slow", "fp16", "no arithmetic in half precision",
            "ONNX Runtime casts to float32 round each operator; int8 or int4 are smaller as well",
        )  # fmt: skip


def _processor_flags() -> set[str]:
    """What /proc/cpuinfo says of the first processor; empty elsewhere than on Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return set()
    return next(
        (
            set(line.partition(":")[2].split())
            for line in lines
            if line.startswith(("flags", "Features"))
        ),
        set(),
    )
