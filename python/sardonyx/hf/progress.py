"""How far an export is, on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, TypeVar

T = TypeVar("T")
_SECONDS_BETWEEN = 0.5


class Progress:
    """Says each step as it begins, with bytes and time left where a file grows.

    Attributes:
        seconds: what each step took, by name.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        """To `stream`, where it is a terminal; None says nothing."""
        self._stream = stream
        self._live = stream is not None and stream.isatty()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Times what is done within."""
        begun = time.perf_counter()
        self._line(f"{name} …")
        try:
            yield
        finally:
            taken = time.perf_counter() - begun
            self.seconds[name] = round(self.seconds.get(name, 0) + taken, 3)
            self._line(f"{name}: {taken:.1f} s", last=True)

    def writing(self, folder: Path, expected: int, write: Callable[[], T]) -> T:
        """Shows how many of `expected` bytes lie in the folder while `write` runs."""
        if not self._live:
            return write()
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(folder, expected, done), daemon=True)
        watcher.start()
        try:
            return write()
        finally:
            done.set()
            watcher.join()

    def _watch(self, folder: Path, expected: int, done: threading.Event) -> None:
        begun = time.perf_counter()
        before = bytes_in(folder)
        while not done.wait(_SECONDS_BETWEEN):
            written = bytes_in(folder) - before
            self._line(_how_far(written, expected, time.perf_counter() - begun))

    def _line(self, text: str, last: bool = False) -> None:
        if self._stream is None:
            return
        if self._live:
            print(f"\r\x1b[K{text}", end="\n" if last else "", file=self._stream, flush=True)
        elif last:
            print(text, file=self._stream, flush=True)


def _how_far(written: int, expected: int, seconds: float) -> str:
    text = f"writing {written / 1e6:.0f} of about {expected / 1e6:.0f} MB"
    if 0 < written < expected:
        text += f", {(expected - written) / (written / seconds):.0f} s left"
    return text


def bytes_in(folder: Path) -> int:
    """The size of the files in a folder, those that appear and vanish meanwhile left out."""
    total = 0
    for path in folder.iterdir():
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


def to_standard_error() -> Progress:
    """On standard error."""
    return Progress(sys.stderr)
