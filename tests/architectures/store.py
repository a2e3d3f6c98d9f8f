"""What the steps leave for each other: one folder, files named after the architecture."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "sardonyx" / "architectures"


@dataclass(frozen=True)
class Store:
    folder: Path

    def program(self, name: str) -> Path:
        return self.folder / f"{name}.pt2"

    def answers(self, name: str) -> Path:
        """Flat inputs and eager results at each size."""
        return self.folder / f"{name}.answers"

    def model(self, name: str) -> Path:
        return self.folder / f"{name}.onnx"

    def record(self, step: str, name: str, **facts: Any) -> None:
        path = self._record_path(step, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps({"name": name, **facts}, indent=1))
        partial.replace(path)

    def recorded(self, step: str, name: str) -> dict[str, Any] | None:
        path = self._record_path(step, name)
        return json.loads(path.read_text()) if path.exists() else None

    def all_recorded(self, step: str) -> list[dict[str, Any]]:
        paths = sorted((self.folder / step).glob("*.json"))
        return [json.loads(path.read_text()) for path in paths]

    def _record_path(self, step: str, name: str) -> Path:
        return self.folder / step / f"{name}.json"
