"""Without torch: what needs none works in an environment of numpy and sardonyx alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import sardonyx
from tests.harness.command import command_path

ROOT = Path(__file__).resolve().parents[2]


def bare_python(folder: Path) -> Path:
    """The interpreter of a new environment, whose packages are links to those of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    where = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip())
    numpy = Path(np.__file__).parent
    for each in (Path(sardonyx.__file__).parent, numpy, *numpy.parent.glob("numpy[.-]*")):
        (site / each.name).symlink_to(each)
    return python


def test_what_needs_no_torch_works_without_it(tmp_path: Path) -> None:
    shutil.copyfile(ROOT / "tests" / "fuzz" / "corpus" / "pt2" / "small", tmp_path / "small.pt2")
    ended = subprocess.run(
        [bare_python(tmp_path / "bare"), ROOT / "tests" / "installed" / "bare_checks.py", tmp_path],
        cwd=tmp_path,  # away from the checkout
        env={"PATH": os.environ["PATH"], "SARDONYX_COMMAND": str(command_path().resolve())},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "passed convert\n" in ended.stdout
