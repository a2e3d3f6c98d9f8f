"""Python's garbage collector, while much is made that lives long."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def known_objects_kept() -> Iterator[None]:
    """Within it, the collector looks only at objects that are made there.

    With PyTorch and transformers a process has more than a million others. A collection that goes
    through all of them takes a third of a second, and a capture makes enough to cause several.
    """
    if gc.get_freeze_count():  # somebody's, who wants them to stay so
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
