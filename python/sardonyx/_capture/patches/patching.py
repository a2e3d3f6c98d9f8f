"""Functions and methods that stand in for others for a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from sardonyx._torch_private import state as torch_state


class Replacement(NamedTuple):
    """`value` for what a module or class calls `name`."""

    holder: Any
    name: str
    value: Any


@contextmanager
def replaced(replacements: Iterable[Replacement]) -> Iterator[None]:
    """Within it, modules and classes have other attributes; what a class inherits is its parent's
    again afterwards."""
    torch_state.list_makers()
    wanted = list(replacements)
    own = [each.name in vars(each.holder) for each in wanted]
    before = [getattr(each.holder, each.name) for each in wanted]
    try:
        for each in wanted:
            setattr(each.holder, each.name, each.value)
        yield
    finally:
        for each, was_own, value in zip(wanted, own, before, strict=True):
            if was_own:
                setattr(each.holder, each.name, value)
            else:
                delattr(each.holder, each.name)
