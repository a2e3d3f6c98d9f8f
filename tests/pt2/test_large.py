"""Archives beyond 4 GB: their directory and offsets need 64 bits."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.harness.command import run_command

from .saved import save_as_2_13, tied_program


def test_entries_beyond_four_gigabytes(tmp_path: Path) -> None:
    save_as_2_13(tied_program(), tmp_path / "small.pt2")
    large = tmp_path / "large.pt2"
    with large.open("wb") as file:
        try:
            file.truncate(5 << 30)  # a hole, which takes no room on the disk
        except OSError as error:
            pytest.skip(f"no file of 5 GB can be made here: {error}")
    with zipfile.ZipFile(tmp_path / "small.pt2") as old, zipfile.ZipFile(large, "a") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        assert new.getinfo(old.namelist()[0]).header_offset >= 5 << 30
    assert large.stat().st_blocks * 512 < 1 << 30
    small_listing = run_command("inspect", tmp_path / "small.pt2")
    large_listing = run_command("inspect", large)
    assert large_listing.returncode == 0, large_listing.stderr
    assert large_listing.stdout == small_listing.stdout
