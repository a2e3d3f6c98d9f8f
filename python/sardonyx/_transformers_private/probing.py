"""Whether the installed transformers has something that it does not promise."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cached_property
from typing import Any


class MissingError(Exception):
    """The installed transformers lacks a name; the message says which."""


def lookup(module: str, *names: str) -> Any:
    """The named attribute of an attribute of a module of transformers, "cache_utils"; the module
    itself without names. MissingError."""
    path = f"transformers.{module}"
    try:
        found: Any = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name == path:
            raise MissingError(f"this transformers has no {path}") from error
        raise MissingError(f"{path} needs {error.name}, which is not installed") from error
    except Exception as error:  # of packages that transformers imports and that do not fit
        raise MissingError(f"this transformers has no {path}: {_first_line(error)}") from error
    for at, name in enumerate(names):
        if not hasattr(found, name):
            raise MissingError(f"this transformers has no {'.'.join((path, *names[: at + 1]))}")
        found = getattr(found, name)
    return found


def has(module: str, *paths: str) -> Callable[[], None]:
    """An attempt that succeeds where the module has all of these."""

    def attempt() -> None:
        lookup(module)
        for path in paths:
            lookup(module, *path.split("."))

    return attempt


class Probe:
    """A feature of ours that needs more of transformers than it promises."""

    def __init__(self, name: str, *attempts: Callable[[], None]) -> None:
        self.name = name
        self._attempts = attempts

    @cached_property
    def reason(self) -> str:
        """Why it is not available; empty where it is. An attempt fails by raising."""
        try:
            for attempt in self._attempts:
                attempt()
        except Exception as error:  # a release that nobody has seen may raise anything
            return _first_line(error)
        return ""

    @property
    def available(self) -> bool:
        """Whether the installed transformers has all that it needs; tried once."""
        return not self.reason


def _first_line(error: Exception) -> str:
    kind = "" if isinstance(error, MissingError) else f"{type(error).__name__}: "
    return kind + next(iter(str(error).strip().splitlines()), type(error).__name__)
