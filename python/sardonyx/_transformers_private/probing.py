"""Whether the installed transformers has something that it does not promise. Its modules are
imported one by one, and named without the package: "cache_utils"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sardonyx._base import probing
from sardonyx._base.probing import MissingError, Probe

__all__ = ["MissingError", "Probe", "has", "lookup"]


def lookup(module: str, *names: str) -> Any:
    """The named attribute of an attribute of a module of transformers; the module itself without
    names. MissingError."""
    return probing.lookup(f"transformers.{module}", *names)


def has(module: str, *paths: str) -> Callable[[], None]:
    """An attempt that succeeds where the module has all of these."""
    return probing.has(f"transformers.{module}", *paths)
