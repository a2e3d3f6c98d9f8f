"""sympy's caches of its own results, which are too small for the sizes of a large model."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .probing import Probe, has, lookup

_MODULE = "sympy.core.cache"
CACHES = Probe("sympy's caches", has(_MODULE, "CACHE"))
# Results that each function of sympy's keeps, instead of the thousand that it keeps otherwise.
_MAX_RESULTS = 20_000


@contextmanager
def larger_sympy_caches() -> Iterator[None]:
    """Within it, sympy keeps more results of its functions, also for captures that follow. By
    default it forgets a sum after a thousand others, and simplifies it anew. Layers of a large
    model compute more sizes than that, each layer the same ones."""
    if not CACHES.available:
        yield
        return
    cells = _cells()
    before = [(cell, cell.cell_contents) for cell, _ in cells]
    for cell, larger in cells:
        cell.cell_contents = larger
    try:
        yield
    finally:
        for cell, cached in before:
            cell.cell_contents = cached


@functools.cache
def _cells() -> list[tuple[Any, Any]]:
    """For each cached function of sympy's, the variable that holds its cache, and a larger one."""
    found = []
    for wrapper in lookup(_MODULE, "CACHE"):
        for cell in getattr(wrapper, "__closure__", None) or ():
            cached = cell.cell_contents
            parameters = getattr(cached, "cache_parameters", None)
            if parameters is None:
                continue
            kept = parameters()
            if kept["maxsize"] is not None and 0 < kept["maxsize"] < _MAX_RESULTS:
                larger = functools.lru_cache(_MAX_RESULTS, typed=kept["typed"])(cached.__wrapped__)
                found.append((cell, larger))
    return found
