"""How far an export is, on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from sardonyx._base.log import LOGGER

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
        self._begun = self._shown = time.perf_counter()  # the step, and the last line of bytes

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Times what is done within."""
        begun = self._begun = self._shown = time.perf_counter()
        self._line(f"{name} …")
        try:
            yield
        finally:
            taken = time.perf_counter() - begun
            LOGGER.info("%s: %.1f s", name, taken)
            self.seconds[name] = round(self.seconds.get(name, 0) + taken, 3)
            self._line(f"{name}: {taken:.1f} s", last=True)

    def written(self, done: int, total: int) -> None:
        """Shows how many bytes of a file are written, in the step that writes it."""
        now = time.perf_counter()
        if self._live and now - self._shown >= _SECONDS_BETWEEN:
            self._shown = now
            self._line(_how_far(done, total, now - self._begun))

    def _line(self, text: str, last: bool = False) -> None:
        if self._stream is None:
            return
        if self._live:
            print(f"\r\x1b[K{text}", end="\n" if last else "", file=self._stream, flush=True)
        elif last:
            print(text, file=self._stream, flush=True)


def _how_far(done: int, total: int, seconds: float) -> str:
    text = f"writing {done / 1e6:.0f} of {total / 1e6:.0f} MB"
    if 0 < done < total:
        text += f", {done / 1e9 / seconds:.2f} GB/s, {(total - done) / (done / seconds):.0f} s left"
    return text


def to_standard_error() -> Progress:
    """On standard error."""
    return Progress(sys.stderr)
