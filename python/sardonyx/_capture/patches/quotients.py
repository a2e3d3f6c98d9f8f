"""`divmod(length, 4)` of sizes, for which PyTorch has both operators but not this function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def divmod_of_sizes() -> Iterator[None]:
    """Within it, divmod() takes sizes and numbers."""
    import torch

    methods = {
        "__divmod__": lambda a, b: (a // b, a % b),
        "__rdivmod__": lambda b, a: (a // b, a % b),
    }
    kind: Any = torch.SymInt
    missing = [name for name in methods if not hasattr(kind, name)]
    try:
        for name in missing:
            setattr(kind, name, methods[name])
        yield
    finally:
        for name in missing:
            delattr(kind, name)
