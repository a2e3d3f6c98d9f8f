"""Python's garbage collector, while much is made that lives long."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Between two collections. Python's own number is for objects that soon are garbage.
_NEW_OBJECTS = 20_000


@contextmanager
def known_objects_kept() -> Iterator[None]:
    """Within it, the collector looks only at objects that are made there, and less often.

    With PyTorch and transformers a process has more than a million others. A collection that goes
    through all of them takes a third of a second, and a capture makes enough to cause several.
    """
    if gc.get_freeze_count():  # somebody's, who wants them to stay so
        yield
        return
    first, *others = gc.get_threshold()
    gc.freeze()
    if first:
        gc.set_threshold(max(first, _NEW_OBJECTS), *others)
    try:
        yield
    finally:
        gc.set_threshold(first, *others)
        gc.unfreeze()
