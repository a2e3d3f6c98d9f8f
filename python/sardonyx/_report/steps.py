"""The steps of an export: how each went, and how long it took."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from sardonyx._base.log import LOGGER

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """One step that was begun: `error` is None where it succeeded."""

    name: str
    seconds: float
    error: Exception | None = None


@dataclass
class Steps:
    """Logged at INFO as they happen, and printed on standard error where `verbose`."""

    verbose: bool
    done: list[Step] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """A line for the user, kept for the report."""
        self.messages.append(text)
        LOGGER.info("%s", text)
        if self.verbose:
            print(f"[sardonyx] {text}", file=sys.stderr)

    def timed(self, name: str, run: Callable[[], T]) -> T:
        """The result of `run()`, whose time or failure is noted under `name`."""
        start = time.perf_counter()
        try:
            result = run()
        except Exception as error:
            self.done.append(Step(name, time.perf_counter() - start, error))
            raise
        self.done.append(Step(name, time.perf_counter() - start))
        self.say(f"{name}: {self.done[-1].seconds * 1e3:.1f} ms")
        return result
