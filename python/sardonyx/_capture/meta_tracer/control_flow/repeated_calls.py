"""What a model has called, for runs of it that begin anew: each gets what the one before it got, up
to where they part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.tracer.in_place_views import InPlaceView

# `x[:]` is no call where it is known by then that nothing is left out.
_LEFT_OUT = (torch.ops.aten.slice.Tensor,)


class CallHistory:
    """The calls of the current run with their results, for runs that begin with the same calls."""

    def __init__(self) -> None:
        self._made: list[tuple[Any, Any]] = []
        self._next = 0

    @property
    def count(self) -> int:
        """How many there were since the run began."""
        return self._next

    def result(self, func: Any, make: Callable[[], Any]) -> Any:
        """What the call gave before, or is made to give. Declines another call than there was."""
        if (known := self._known(func)) is not None:
            return known[1]
        result = make()
        self._made.append((func, result))
        self._next += 1
        return result

    def _known(self, func: Any) -> tuple[Any, Any] | None:
        while self._next < len(self._made):
            known = self._made[self._next]
            self._next += 1
            if known[0] is func:
                return known
            if known[0] not in _LEFT_OUT:
                raise DeclinedError("a model that does not call the same twice")
        return None

    def begin_anew(self, count: int) -> None:
        """The next run is another one behind that many calls."""
        for _, result in reversed(self._made):
            if isinstance(result, InPlaceView):
                result.undo()
        del self._made[count:]
        self._next = 0
