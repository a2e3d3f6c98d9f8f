"""Where the time of an export goes, function by function."""

from __future__ import annotations

import cProfile
import io
import pstats
from collections.abc import Iterator
from contextlib import contextmanager

_MAX = 40


class Profile:
    """A measured profile: `text` has the functions that took longest."""

    text = ""

    @contextmanager
    def measuring(self, wanted: bool) -> Iterator[None]:
        """Within it time is measured, where that is wanted; which takes time, too."""
        profiler = cProfile.Profile()
        try:
            if wanted:
                profiler.enable()
        except ValueError:  # somebody else measures already
            wanted = False
        try:
            yield
        finally:
            if wanted:
                profiler.disable()
                self.text = _text(profiler)


def _text(profiler: cProfile.Profile) -> str:
    out = io.StringIO()
    pstats.Stats(profiler, stream=out).strip_dirs().sort_stats("cumulative").print_stats(_MAX)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip()
