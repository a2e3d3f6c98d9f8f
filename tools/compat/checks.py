"""What is checked in an environment. Each check is a function of where it runs to an Outcome."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SELECTION = Path(__file__).with_name("selection.txt")
TESTS_LIMIT = 15 * 60
_LIMIT = 30 * 60


@dataclass(frozen=True)
class Place:
    """An environment as installed: its interpreter, the folder that has `bin/sardonyx`, what its
    processes find in their environment beside PATH, and a folder for what checks write."""

    python: Path
    prefix: Path
    variables: Mapping[str, str]
    folder: Path

    def run(self, *words: str | Path, limit: float = _LIMIT) -> subprocess.CompletedProcess[str]:
        """Runs a command there, away from the checkout. TimeoutExpired after `limit` seconds."""
        return self._run(words, self.folder, limit)

    def in_checkout(self, *words: str | Path, limit: float) -> subprocess.CompletedProcess[str]:
        """The same in the checkout, where the tests are."""
        return self._run(words, ROOT, limit)

    def _run(
        self, words: tuple[str | Path, ...], folder: Path, limit: float
    ) -> subprocess.CompletedProcess[str]:
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("PYTHON", "SARDONYX"))}
        return subprocess.run(
            list(map(str, words)), cwd=folder, env=kept | dict(self.variables),
            capture_output=True, text=True, check=False, timeout=limit,
        )  # fmt: skip


@dataclass
class Outcome:
    """How a check ended: counts of what passed and failed, and the first failures in words."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)


def doctor(place: Place) -> Outcome:
    """`sardonyx doctor`, whose answer has the features that are missing."""
    ended = place.run(place.prefix / "bin" / "sardonyx", "doctor", "--json")
    try:
        findings = json.loads(ended.stdout)["findings"]
    except (ValueError, KeyError):
        return Outcome(failed=1, failures=[_last_line(ended)])
    broken = [each for each in findings if each["state"] in {"broken", "conflict"}]
    return Outcome(
        passed=len(findings) - len(broken),
        failed=len(broken),
        failures=[each["text"] for each in broken],
        details={"missing_features": [e["subject"] for e in findings if e["state"] == "disabled"]},
    )


def bare(place: Place) -> Outcome:
    """What works with numpy alone."""
    return _lines_of(place, "bare_checks.py")


def files(place: Place) -> Outcome:
    """Files converted, optimized, checked by onnx and run in ONNX Runtime, without torch."""
    return _lines_of(place, "file_checks.py")


def tests(place: Place) -> Outcome:
    """The selection of tests, on the package as installed."""
    report = place.folder / "tests.xml"
    chosen = [each for each in SELECTION.read_text().split("\n") if each.startswith("tests/")]
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}", *chosen]
    try:
        ended = place.in_checkout(place.python, *words, limit=TESTS_LIMIT)
    except subprocess.TimeoutExpired:
        return Outcome(failed=1, failures=[f"not done after {TESTS_LIMIT} s"])
    if not report.is_file():
        return Outcome(failed=1, failures=[_last_line(ended)])
    return counts_of(report)


def counts_of(report: Path) -> Outcome:
    """The counts of a report of pytest in JUnit's form."""
    outcome = Outcome()
    for case in ET.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
            outcome.failures.append(f"{case.get('classname')}.{case.get('name')}")
        elif case.find("skipped") is not None:
            outcome.skipped += 1
        else:
            outcome.passed += 1
    return outcome


def llama(place: Place) -> Outcome:
    """A Llama with its cache through `sardonyx hf --verify`."""
    return _checkpoint(place, "llama")


def whisper(place: Place) -> Outcome:
    """A Whisper with its cache through `sardonyx hf --verify`."""
    return _checkpoint(place, "whisper")


def _checkpoint(place: Place, name: str) -> Outcome:
    folder = place.folder / name
    made = place.run(place.python, Path(__file__).with_name("checkpoints.py"), name, folder)
    if made.returncode != 0:
        return Outcome(failed=1, failures=[_last_line(made)])
    ended = place.run(
        place.prefix / "bin" / "sardonyx", "hf", folder, "-o", place.folder / f"{name}-onnx",
        "--verify", "--json",
    )  # fmt: skip
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        return Outcome(failed=1, failures=[_last_line(ended)])
    if not report["ok"]:
        return Outcome(failed=1, failures=[each["message"] for each in report["diagnostics"]])
    lacking = []
    if not report["verified"]:
        lacking.append("nothing was verified")
    if not any(input_.startswith("past_key_values.") for part in report["parts"]
               for input_ in part["inputs"]):  # fmt: skip
        lacking.append("no model takes the cache")
    return Outcome(
        passed=0 if lacking else 1,
        failed=len(lacking),
        failures=lacking,
        details={"verified": report["verified"], "task": report["task"]},
    )


def _lines_of(place: Place, script: str) -> Outcome:
    """Of a script that prints a line "passed NAME" or "failed NAME" for each of its checks."""
    small = place.folder / "small.pt2"
    shutil.copyfile(ROOT / "tests" / "fuzz" / "corpus" / "pt2" / "small", small)
    ended = place.run(place.python, ROOT / "tests" / "installed" / script, place.folder)
    lines = ended.stdout.splitlines()
    passed = [line for line in lines if line.startswith("passed ")]
    failed = [line.removeprefix("failed ") for line in lines if line.startswith("failed ")]
    if ended.returncode != 0 and not failed:
        failed = [_last_line(ended)]
    return Outcome(passed=len(passed), failed=len(failed), failures=failed)


def _last_line(ended: subprocess.CompletedProcess[str]) -> str:
    lines = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
    return lines[-1] if lines else f"ended with {ended.returncode}"


CHECKS: dict[str, Callable[[Place], Outcome]] = {
    "bare": bare,
    "doctor": doctor,
    "files": files,
    "tests": tests,
    "llama": llama,
    "whisper": whisper,
}


def timed(name: str, place: Place) -> Outcome:
    """One check; what it raises is its failure."""
    start = time.perf_counter()
    try:
        outcome = CHECKS[name](place)
    except (OSError, subprocess.TimeoutExpired) as error:
        outcome = Outcome(failed=1, failures=[str(error)])
    outcome.seconds = round(time.perf_counter() - start, 1)
    return outcome
