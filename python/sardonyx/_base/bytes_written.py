"""How far the writing of a model is, by the package tqdm where it is installed."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Progress = Callable[[int, int], object]

_SECONDS = 1.0  # what takes less is not shown


@contextlib.contextmanager
def bytes_written(destination: str | os.PathLike[str]) -> Iterator[Progress | None]:
    """What is to be called with the bytes written and the bytes in all; None where nobody looks.

    Somebody looks at a terminal and at a notebook.
    """
    if not _is_watched() or importlib.util.find_spec("tqdm") is None:
        yield None
        return
    from tqdm.auto import tqdm

    name = Path(destination).name
    bar: Any = tqdm(desc=f"writing {name}", unit="B", unit_scale=True, delay=_SECONDS, leave=False)

    def show(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)

    with bar:
        yield show


def _is_watched() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
