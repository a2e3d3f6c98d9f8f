"""`make compat`: what it makes of results, and that what is committed is fresh."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tools.compat import __main__ as command
from tools.compat import checks, environments, generate, installing, record
from tools.compat.checks import Outcome, Place
from tools.compat.record import Row

ROOT = Path(__file__).resolve().parents[2]


def row(name: str, failed: int = 0, **versions: str) -> Row:
    outcome = Outcome(passed=3, failed=failed, failures=["test_x"] * failed)
    return Row(name, "2026-11-26", "c0ffee", {"python": "3.11.7", **versions}, {"tests": outcome})


def test_what_is_committed_is_what_the_data_say() -> None:
    rows = record.load()
    stale = [
        path for path, text in generate.outputs(rows).items() if path.read_text("utf-8") != text
    ]
    assert stale == [], "python -m tools.compat generate"


def test_the_data_name_environments_of_the_table() -> None:
    names = {each.name for each in environments.ENVIRONMENTS}
    assert {each.name for each in record.load()} <= names


def test_ranges_are_those_of_environments_where_nothing_failed() -> None:
    rows = [
        row("a", torch="2.9.1"),
        row("b", torch="2.13.0+cpu"),
        row("c", failed=1, torch="2.16.0"),
        row("d"),
    ]
    assert generate.ranges(rows) == {"python": ("3.11.7", "3.11.7"), "torch": ("2.9.1", "2.13.0")}


def test_metadata_have_the_oldest_tested_releases() -> None:
    text = (
        'requires-python = ">=3.9"\nclassifiers = [\n'
        '  "Programming Language :: Python :: 3",\n'
        '  "Programming Language :: Python :: 3.8",\n]\n'
        'keywords = ["onnx"]\n[project.optional-dependencies]\n'
        'onnx = ["onnx"]\nall = ["onnx>=1.2", "onnx-ir"]\n\n[tool.x]\nknown = ["onnx"]\n'
    )
    made = generate.metadata(text, {"python": "3.10", "onnx": "1.18"},
                             ["3.10", "3.12"])  # fmt: skip
    assert 'requires-python = ">=3.10"' in made
    assert ":: 3.8" not in made
    assert made.index("Python :: 3.10") < made.index("Python :: 3.12")
    assert 'keywords = ["onnx"]' in made
    assert 'known = ["onnx"]' in made
    assert 'onnx = ["onnx>=1.18"]\nall = ["onnx>=1.18", "onnx-ir"]' in made


def test_bounds_claim_only_what_ran() -> None:
    old = row("old", torch="2.9.1")
    new = row("new", torch="2.13.0+cpu")
    new.versions["python"] = "3.12.1"
    assert generate.bounds([new])["torch"] == "2.13"
    assert generate.bounds([old, new])["torch"] == "2.9"
    assert generate.bounds([new])["python"] == "3.12"
    assert generate.pythons([old, new]) == ["3.11", "3.12"]
    failed = row("old", failed=1, torch="2.9.1")
    assert generate.bounds([failed, new])["torch"] == "2.13"
    assert generate.pythons([failed, new]) == ["3.12"]


def test_the_page_names_failures_and_disabled_features() -> None:
    bad = row("b", failed=2, torch="2.9.1")
    bad.checks["doctor"] = Outcome(passed=1, details={"missing_features": ["fake-tensor tracing"]})
    text = generate.page([row("a"), bad], {})
    assert "| a | 2026-11-26 | 3.11.7 | – |" in text
    assert "3 passed, 2 failed" in text
    assert "- b, tests: `test_x`; `test_x`" in text
    assert "- b: fake-tensor tracing" in text


def test_rows_are_replaced_and_in_the_order_of_the_table(tmp_path: Path) -> None:
    names = [each.name for each in environments.ENVIRONMENTS]
    rows = record.with_row([row(names[2]), row(names[1])], row(names[0]))
    rows = record.with_row(rows, row(names[1], failed=1))
    record.save(rows, tmp_path / "data.json")
    again = record.load(tmp_path / "data.json")
    assert [each.name for each in again] == names[:3]
    assert again == rows
    assert not again[1].passed


@pytest.mark.parametrize(
    ("wheel", "release", "is_for"),
    [
        ("sardonyx-0.1.0-cp310-cp310-linux_x86_64.whl", "3.10", True),
        ("sardonyx-0.1.0-cp310-cp310-linux_x86_64.whl", "3.11", False),
        ("sardonyx-0.1.0-cp312-abi3-linux_x86_64.whl", "3.12", True),
        ("sardonyx-0.1.0-cp312-abi3-linux_x86_64.whl", "3.14", True),
        ("sardonyx-0.1.0-cp312-abi3-linux_x86_64.whl", "3.11", False),
    ],
)
def test_a_wheel_is_for_its_pythons(wheel: str, release: str, is_for: bool) -> None:
    assert installing.fits(wheel, release) is is_for


def test_counts_of_a_run_of_tests(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\ndef test_a(): pass\ndef test_b(): assert False\n"
        "@pytest.mark.skip\ndef test_c(): pass\n"
    )
    report = tmp_path / "report.xml"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}",
         "--rootdir", tmp_path, "-c", "/dev/null", tmp_path / "test_it.py"],
        capture_output=True, check=False,
    )  # fmt: skip
    found = checks.counts_of(report)
    assert (found.passed, found.failed, found.skipped) == (1, 1, 1)
    assert found.failures == ["test_it.test_b"]


# --- one environment from end to end, with checks that take no time


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> environments.Environment:
    def fails(place: Place) -> Outcome:
        raise OSError("the disk is full")

    monkeypatch.setitem(checks.CHECKS, "passes", lambda place: Outcome(passed=2))
    monkeypatch.setitem(checks.CHECKS, "fails", fails)
    made = environments.Environment(
        "fake", {"numpy": ""}, ".".join(map(str, sys.version_info[:2])), ("passes", "fails")
    )
    monkeypatch.setattr(environments, "ENVIRONMENTS", (made,))
    return made


@pytest.mark.usefixtures("quick")
def test_one_environment(tmp_path: Path) -> None:
    """In place, with a wheel that pip takes and that holds nothing. The row has its commit."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    tag = "cp{}{}".format(*sys.version_info[:2])
    wheel = make_wheel(wheels, f"{tag}-none-any")
    wheel.with_name(wheel.name + ".commit").write_text("c0ffee\n")
    options = argparse.Namespace(
        names=["fake"], cache=tmp_path / "cache", wheels=wheels, in_place=sys.executable,
        overlay=None, keep=False, checks="", data=tmp_path / "data.json",
    )  # fmt: skip
    assert command.run_all(options) == 1
    (made,) = json.loads((tmp_path / "data.json").read_text())["environments"]
    assert made["versions"]["sardonyx"] == "0.0.1"
    assert made["commit"] == "c0ffee"
    assert made["checks"]["passes"]["passed"] == 2
    assert made["checks"]["fails"]["failures"] == ["the disk is full"]
    assert not (tmp_path / "cache" / "fake").exists()


def test_an_environment_that_is_not_as_the_table_says(tmp_path: Path) -> None:
    wanted = environments.Environment("x", {"numpy": "0.0.0"}, "3.11")
    with pytest.raises(installing.InstallError, match=r"numpy .*, not 0\.0\.0"):
        installing.install_beside(wanted, Path(sys.executable), tmp_path, tmp_path)


def test_a_wheel_of_an_unknown_commit_gives_no_row(tmp_path: Path) -> None:
    with pytest.raises(installing.InstallError, match=r"the commit of x\.whl is unknown"):
        installing.wheel_commit(tmp_path / "x.whl")


def make_wheel(folder: Path, tag: str) -> Path:
    import zipfile

    info = "sardonyx-0.0.1.dist-info"
    path = folder / f"sardonyx-0.0.1-{tag}.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("sardonyx/__init__.py", "")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: sardonyx\nVersion: 0.0.1\n")
        file.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        file.writestr(f"{info}/RECORD", "")
    return path


def test_an_overlay_is_found_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "overlay" / "onnx-9.9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: onnx\nVersion: 9.9\n")
    monkeypatch.setattr(installing, "_run", lambda *_, **__: None)
    release = ".".join(map(str, sys.version_info[:2]))
    environment = environments.Environment("e", {"onnx": "9.9"}, release)
    python, wheel = Path(sys.executable), tmp_path / "x.whl"
    place = installing.install_beside(environment, python, wheel, tmp_path, info.parent)
    assert place.variables["PYTHONPATH"].endswith(f":{info.parent}")
    with pytest.raises(installing.InstallError, match=r"9\.9"):
        installing.install_beside(environment, python, wheel, tmp_path)
