"""Whether the installed PyTorch has something that it does not promise, and what replaces it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from sardonyx._base.probing import MissingError, Probe, has, lookup

__all__ = ["MissingError", "Probe", "has", "lookup", "patched"]


def patched(holder: Any, name: str, value: Any, *, create: bool = False) -> Any:
    """mock.patch.object(), imported where it is used: it brings asyncio, which takes as long to
    import as all that `sardonyx.optimize` needs besides."""
    from unittest import mock

    patch: AbstractContextManager[Any] = mock.patch.object(holder, name, value, create=create)
    return patch
