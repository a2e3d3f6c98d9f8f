"""The C library's heap."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable


def give_back() -> None:
    """Returns freed memory to the system.

    glibc learns to take blocks of several MiB from its heap, where what lies between them keeps it
    from ever shrinking: work that goes through large tensors one after the other would seem to need
    all of them at once. Does nothing with other C libraries.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@functools.cache
def _trim() -> Callable[[int], int] | None:
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not glibc; TypeError: not even POSIX
        return None
    return trim
