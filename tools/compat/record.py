"""The data file: what ran in each environment, and how it ended."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .checks import ROOT, Outcome
from .environments import ENVIRONMENTS

DATA = ROOT / "docs" / "data" / "compatibility.json"


@dataclass
class Row:
    """What ran in one environment."""

    name: str
    date: str
    commit: str  # that the wheel was built from; with "-dirty" where the checkout had changes
    versions: dict[str, str]
    checks: dict[str, Outcome] = field(default_factory=dict)
    note: str = ""  # where it ran another way than the page says

    @property
    def passed(self) -> bool:
        """Whether something ran, and nothing failed."""
        return bool(self.checks) and not any(each.failed for each in self.checks.values())

    @property
    def missing_features(self) -> list[str]:
        """Features of ours that are disabled there."""
        doctor = self.checks.get("doctor", Outcome())
        return list(doctor.details.get("missing_features", ()))


def load(path: Path = DATA) -> list[Row]:
    """The rows of the file; none where there is no file."""
    if not path.is_file():
        return []
    return [_row(each) for each in json.loads(path.read_text(encoding="utf-8"))["environments"]]


def _row(fields: Mapping[str, Any]) -> Row:
    checks = {name: Outcome(**each) for name, each in fields["checks"].items()}
    versions, note = dict(fields["versions"]), fields.get("note", "")
    return Row(fields["name"], fields["date"], fields["commit"], versions, checks, note)


def with_row(rows: Iterable[Row], new: Row) -> list[Row]:
    """With `new` in place of the row of that name, in the order of the table."""
    kept = [each for each in rows if each.name != new.name]
    order = {each.name: at for at, each in enumerate(ENVIRONMENTS)}
    return sorted([*kept, new], key=lambda row: (order.get(row.name, len(order)), row.name))


def save(rows: Iterable[Row], path: Path = DATA) -> None:
    """Writes the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"environments": [dataclasses.asdict(row) for row in rows]}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")
