"""Whether the installed PyTorch has something that it does not promise."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any


class MissingError(Exception):
    """The installed PyTorch lacks a name; the message says which."""


def lookup(module: str, *names: str) -> Any:
    """The named attribute of an attribute of a module of PyTorch; MissingError."""
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise MissingError(f"this PyTorch has no {module}") from error
    for at, name in enumerate(names):
        if not hasattr(found, name):
            raise MissingError(f"this PyTorch has no {'.'.join((module, *names[: at + 1]))}")
        found = getattr(found, name)
    return found


def has(module: str, *paths: str) -> Callable[[], None]:
    """An attempt that succeeds where the module has all of these: "ShapeEnv._set_replacement"."""

    def attempt() -> None:
        for path in paths:
            lookup(module, *path.split("."))

    return attempt


class Probe:
    """A feature of ours that needs more of PyTorch than it promises."""

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
            return self._said(error)
        return ""

    @property
    def is_missed(self) -> bool:
        """Whether something asked for it, and it is not available."""
        return bool(vars(self).get("reason"))

    @property
    def available(self) -> bool:
        """Whether the installed PyTorch has all that it needs; tried once."""
        return not self.reason

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within it, nothing raises: what PyTorch calls of ours goes on as if it were not there,
        and the feature counts as missing from then on."""
        try:
            yield
        except Exception as error:
            self.__dict__["reason"] = self._said(error)

    @staticmethod
    def _said(error: Exception) -> str:
        said = str(error).strip().splitlines()
        kind = "" if isinstance(error, MissingError) else f"{type(error).__name__}: "
        return f"{kind}{said[0] if said else ''}".rstrip(": ") or type(error).__name__


def patched(holder: Any, name: str, value: Any, *, create: bool = False) -> Any:
    """mock.patch.object(), imported where it is used: it brings asyncio, which takes as long to
    import as all that `sardonyx.optimize` needs besides."""
    from unittest import mock

    patch: AbstractContextManager[Any] = mock.patch.object(holder, name, value, create=create)
    return patch
