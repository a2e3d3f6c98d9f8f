"""The committed table of operator schemas is what its generator writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_is_fresh() -> None:
    version = torch.__version__.split("+")[0]
    table = ROOT / "src" / "program" / "schema" / "gen" / "other.inc"
    written_by = table.read_text().split("\n", 1)[0].split()[-1].removesuffix(".")
    if written_by != version:
        pytest.skip(f"PyTorch {version} has other schemas than {written_by}, which the table is of")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "generate_schemas.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
