"""Python's garbage collector, while much is made that lives long."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Collections of new objects between two of what survived one, and of that between two of all.
_RARE = (10, 1_000)


@contextmanager
def few_collections(new_objects: int = 20_000) -> Iterator[None]:
    """Within it, the collector runs less often, and through all objects hardly ever. `new_objects`:
    how many are made between two collections.

    With PyTorch and transformers a process has more than a million of them. A collection that goes
    through all takes a third of a second, and a capture makes enough to cause several.
    """
    before = gc.get_threshold()
    if before[0]:  # 0: it never runs
        gc.set_threshold(*map(max, before, (new_objects, *_RARE)))
    try:
        yield
    finally:
        gc.set_threshold(*before)
