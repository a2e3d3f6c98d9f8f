"""Whether an installed package has something that it does not promise."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

# What messages call a package, where it is not the name of its module.
_TITLES = {"torch": "PyTorch"}


class MissingError(Exception):
    """The installed package lacks a name; the message says which."""


def lookup(module: str, *names: str) -> Any:
    """The named attribute of an attribute of a module; the module itself without names.
    MissingError."""
    package = module.partition(".")[0]
    lacks = f"this {_TITLES.get(package, package)} has no"
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or f"{module}.".startswith(f"{error.name}."):
            raise MissingError(f"{lacks} {module}") from error
        raise MissingError(f"{module} needs {error.name}, which is not installed") from error
    except Exception as error:  # of packages that the module imports and that do not fit
        raise MissingError(f"{lacks} {module}: {_first_line(error)}") from error
    for at, name in enumerate(names):
        if not hasattr(found, name):
            raise MissingError(f"{lacks} {'.'.join((module, *names[: at + 1]))}")
        found = getattr(found, name)
    return found


def has(module: str, *paths: str) -> Callable[[], None]:
    """An attempt that succeeds where the module has all of these: "ShapeEnv._set_replacement"."""

    def attempt() -> None:
        lookup(module)
        for path in paths:
            lookup(module, *path.split("."))

    return attempt


class Probe:
    """A feature of ours that needs more of a package than it promises."""

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
    def is_missed(self) -> bool:
        """Whether something asked for it, and it is not available."""
        return bool(vars(self).get("reason"))

    @property
    def available(self) -> bool:
        """Whether the installed package has all that it needs; tried once."""
        return not self.reason

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within it, nothing raises: what the package calls of ours goes on as if it were not
        there, and the feature counts as missing from then on."""
        try:
            yield
        except Exception as error:
            self.__dict__["reason"] = _first_line(error)


def _first_line(error: Exception) -> str:
    kind = "" if isinstance(error, MissingError) else f"{type(error).__name__}: "
    lines = str(error).strip().splitlines()
    return f"{kind}{lines[0] if lines else ''}".rstrip(": ") or type(error).__name__
