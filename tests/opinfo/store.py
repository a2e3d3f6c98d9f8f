"""What is kept between runs: captured programs and results, both outside of git."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from tests.opinfo.capture import Captured
from tests.opinfo.catalogue import Unit

# Raise it when capture.py or the choice of samples changes what a stored case means.
_FORMAT = 3


def default_folder() -> Path:
    return Path(os.environ.get("SARDONYX_OPINFO_CACHE", ".cache/opinfo"))


class Shard:
    """The captured cases of one unit, in one file."""

    def __init__(self, folder: Path, unit: Unit) -> None:
        place = folder / f"captured-{_FORMAT}-torch-{torch.__version__}" / unit.dtype
        self._path = place / f"{unit.op}.pickle"
        self._cases: dict[str, Captured] = {}
        self._changed = False
        if self._path.exists():
            try:
                self._cases = pickle.loads(self._path.read_bytes())
            except (pickle.UnpicklingError, EOFError, AttributeError):
                self._cases = {}

    def get(self, key: str) -> Captured | None:
        found = self._cases.get(key)
        if found is not None and found.status == "captured" and found.archive is None:
            return None  # could not be serialized: captured again each time
        return found

    def put(self, key: str, captured: Captured) -> None:
        captured.saved()  # the program itself is not kept
        self._cases[key] = captured
        self._changed = True

    def items(self) -> Iterable[tuple[str, Captured]]:
        return self._cases.items()

    def save(self) -> None:
        if not self._changed:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(f".{os.getpid()}")
        beside.write_bytes(pickle.dumps(self._cases, protocol=5))
        beside.replace(self._path)
        self._changed = False


class Results:
    """Outcomes of one build of the exporter: a line of JSON each, the last of a key counts."""

    def __init__(self, folder: Path, identity: str) -> None:
        self._path = folder / "results" / f"{identity}.jsonl"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self.known: dict[str, dict[str, Any]] = {}
        if self._path.exists():
            self.known = {r["key"]: r for r in _lines(self._path)}
        self._stream = self._path.open("a", encoding="utf-8")

    def add(self, record: dict[str, Any]) -> None:
        self.known[record["key"]] = record
        self._stream.write(json.dumps(record) + "\n")

    def flush(self) -> None:
        self._stream.flush()

    @property
    def path(self) -> Path:
        return self._path


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text().splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:  # the line that an interrupted run was writing
            continue


def captured_programs(folder: Path) -> Iterator[tuple[Unit, Captured]]:
    """Every captured program that is kept, by unit."""
    place = folder / f"captured-{_FORMAT}-torch-{torch.__version__}"
    for path in sorted(place.rglob("*.pickle")):
        unit = Unit(path.stem, path.parent.name)
        for captured in pickle.loads(path.read_bytes()).values():
            if captured.status == "captured":
                yield unit, captured
