"""Damaged files end in a diagnostic and exit code 1, never in anything worse."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.harness.command import run_command

from .saved import rewritten, save_as_2_8, save_as_2_13, tied_program


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "newest.pt2"
    save_as_2_13(tied_program(), path)
    return path


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "older.pt2"
    save_as_2_8(tied_program(), path)
    return path


def outcome(path: Path) -> str:
    """The code of the diagnostic, or "" when the file was accepted."""
    done = run_command("inspect", path)
    if done.returncode == 0:
        return ""
    assert done.returncode == 1, f"exit code {done.returncode}: {done.stderr}"
    assert "error[SX1" in done.stderr, done.stderr
    return done.stderr.split("error[")[1].split("]")[0]


@pytest.mark.parametrize("part", [0.0, 0.01, 0.3, 0.9, 0.99, 0.9999])
def test_truncated_files(newest: Path, part: float, tmp_path: Path) -> None:
    content = newest.read_bytes()
    target = tmp_path / "cut.pt2"
    target.write_bytes(content[: int(len(content) * part)])
    assert outcome(target) == "SX1102"


@pytest.mark.parametrize("which", ["newest", "older"])
def test_bytes_changed_anywhere(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    content = request.getfixturevalue(which).read_bytes()
    chance = random.Random(11)
    target = tmp_path / "changed.pt2"
    for _ in range(25):
        changed = bytearray(content)
        for _ in range(chance.choice([1, 20, 400])):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        target.write_bytes(changed)
        outcome(target)


@pytest.mark.parametrize(
    ("missing", "code"),
    [
        ("models/model.json", "SX1106"),
        ("data/weights/weight_0", "SX1107"),
        ("data/weights/model_weights_config.json", "SX1107"),
        ("data/constants/model_constants_config.json", "SX1107"),
        ("data/sample_inputs/model.pt", ""),
        ("archive_format", ""),
    ],
)
def test_missing_entries(newest: Path, missing: str, code: str, tmp_path: Path) -> None:
    target = tmp_path / "less.pt2"
    rewritten(newest, target, lambda name, content: None if name.endswith(missing) else content)
    assert outcome(target) == code


@pytest.mark.parametrize(
    ("entry", "content"),
    [
        ("data/weights/model.pt", b"PK"),
        ("data/weights/model.pt", b"\x80\x02}."),
        ("models/model.json", b"[]"),
        ("models/model.json", b""),
        ("byteorder", b"big"),
    ],
)
def test_replaced_entries(older: Path, entry: str, content: bytes, tmp_path: Path) -> None:
    target = tmp_path / "replaced.pt2"
    rewritten(older, target, lambda name, old: content if name.endswith(entry) else old)
    assert outcome(target)


def edited(source: Path, target: Path, entry: str, edit: Callable[[Any], None]) -> None:
    def change(name: str, content: bytes) -> bytes:
        if not name.endswith(entry):
            return content
        document = json.loads(content)
        edit(document)
        return json.dumps(document).encode()

    rewritten(source, target, change)


def test_unknown_schema_version(newest: Path, tmp_path: Path) -> None:
    def edit(document: Any) -> None:
        document["schema_version"]["major"] = 9

    edited(newest, tmp_path / "next.pt2", "models/model.json", edit)
    assert outcome(tmp_path / "next.pt2") == "SX1109"


@pytest.mark.parametrize("size", [-1, 11, 2**62, 2**63 - 1])
def test_sizes_of_weights_that_lie(newest: Path, size: int, tmp_path: Path) -> None:
    def edit(document: Any) -> None:
        document["config"]["embed.weight"]["tensor_meta"]["sizes"][0]["as_int"] = size

    edited(newest, tmp_path / "size.pt2", "model_weights_config.json", edit)
    assert outcome(tmp_path / "size.pt2") == "SX1108"


def test_every_part_of_the_program_may_be_missing(newest: Path, tmp_path: Path) -> None:
    """Removes each kind of key once, wherever it first stands."""
    with zipfile.ZipFile(newest) as archive:
        model = next(name for name in archive.namelist() if name.endswith("models/model.json"))
        text = archive.read(model).decode()
    for key in sorted({part.split('"')[0] for part in text.split('"')[1::2]}):
        if f'"{key}":' not in text:
            continue
        target = tmp_path / "without.pt2"
        changed = text.replace(f'"{key}":', f'"no_{key}":', 1).encode()
        rewritten(newest, target, lambda name, old: changed if name == model else old)  # noqa: B023
        outcome(target)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06", b"\x7fELF" * 100, b"{}" * 1000])
def test_files_of_another_kind(content: bytes, tmp_path: Path) -> None:
    target = tmp_path / "other.pt2"
    target.write_bytes(content)
    assert outcome(target) == "SX1102"


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    assert outcome(tmp_path / "absent.pt2") == "SX1101"
    assert outcome(tmp_path) == "SX1101"
