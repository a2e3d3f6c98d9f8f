"""What was measured, in a file: a run goes on where the one before it ended."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class Results:
    """Records by name. With a file, each is written as soon as it is there, and none is made twice.

    `minutes`: after so many, nothing more is begun.
    """

    def __init__(self, path: Path | None, device: str, minutes: float | None = None) -> None:
        self._path = path
        self._ends = None if minutes is None else time.monotonic() + 60 * minutes
        self.device = device
        self.records: dict[str, Record] = {}
        self.left_out: list[str] = []
        if path is not None and path.exists():
            known = json.loads(path.read_text(encoding="utf-8"))
            if known["device"] != device:
                raise SystemExit(
                    f"{path} was measured on {known['device']}, and this is {device}: "
                    "name another file"
                )
            self.records = known["records"]

    def minutes_left(self) -> float | None:
        """Nothing where time is no matter."""
        return None if self._ends is None else max(self._ends - time.monotonic(), 0) / 60

    def of(self, name: str, make: Callable[[], Record]) -> Record | None:
        """The record of that name; nothing where there is none and time is over."""
        if name not in self.records:
            if self.minutes_left() == 0:
                self.left_out.append(name)
                return None
            self.put({name: make()})
        return self.records[name]

    def put(self, records: dict[str, Record]) -> None:
        """Adds them, and writes the file."""
        self.records |= records
        if self._path is None:
            return
        text = json.dumps({"device": self.device, "records": self.records}, indent=1)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        written = self._path.with_name(self._path.name + ".part")
        written.write_text(text, encoding="utf-8")
        written.replace(self._path)
