"""What is in dictionaries of the user's modules, also in those that make something else of it for
those who ask, or that let nobody write to them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any


def held_by(table: dict[Any, Any]) -> dict[Any, Any]:
    """What the table holds: some make something else of it for those who ask."""
    return dict(table) if type(table) in (dict, OrderedDict) else dict(dict.items(table))


def put_back_items(table: dict[Any, Any], before: dict[Any, Any]) -> None:
    """Has the table hold `before` again, also one that lets nobody write to it."""
    kind = OrderedDict if isinstance(table, OrderedDict) else dict
    kind.clear(table)
    for name, value in before.items():
        kind.__setitem__(table, name, value)


def is_same_table(table: dict[Any, Any], before: dict[Any, Any]) -> bool:
    """Whether the table holds the same objects in the same order."""
    now = held_by(table)
    return len(now) == len(before) and all(map(_is_same, now.items(), before.items()))


def _is_same(now: tuple[Any, Any], before: tuple[Any, Any]) -> bool:
    return now[0] is before[0] and now[1] is before[1]
