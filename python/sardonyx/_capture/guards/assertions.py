"""Checks of data: `assert`, and branches that do nothing but raise.

A program has only one branch of data-dependent control flow in Python. Of a check it has the branch
that does not raise. For the data of the other branch PyTorch raises, and so has no answer that the
model's answer could differ from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._capture.source_location import Place, asking_frame, frames_of_model, user_place
from sardonyx._torch_private import fake_tensors
from sardonyx._torch_private import questions as torch_questions

from .bytecode_control_flow import answer_that_goes_on

# Functions that give a truth of whole tensors, for which a program has no place.
_COMPARING = ("equal", "allclose")
# Parts of torch and of this package between who asks for a truth and what answers.
_OF_TORCH = ("fx/", "__init__.py", "_export/", "_library/", "_logging/", "_ops.py", "overrides.py")
_OURS = ("_torch_private/", "_capture/meta_tracer/")


def asking_of_data() -> FrameType | None:
    """Who asks for a truth of data now; None where an operator does."""
    return asking_frame(_OF_TORCH, _OURS)


def answer_that_passes() -> bool | None:
    """What a truth that is asked for now has to be, where the model raises otherwise; None where it
    goes on in either case, or where an operator asks."""
    asking = asking_of_data()
    return None if asking is None else _passing(asking, by_call=False)


def _passing(asking: FrameType, *, by_call: bool) -> bool | None:
    callers = [each for each in frames_of_model() if each is not asking]
    return answer_that_goes_on([asking, *callers], asked_by_call=by_call)


def note_of_check(place: Place) -> Diagnostic:
    """That the program leaves out what is checked there."""
    return Diagnostic(
        "SX1017",
        f"the model does not check of its data what the program does: {place}",
        severity="note",
        help="check the inputs before the model runs: where PyTorch raises there, what the "
        "model gives means nothing",
        file=place.file,
        line=place.line,
        function=place.function,
    )


class DroppedAssertions:
    """Assertions of the model that the captured program leaves out."""

    def __init__(self) -> None:
        self._places: dict[Place, None] = {}

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Within it, what a check asks of data is answered so that the model goes on; those of an
        earlier capture are forgotten."""
        import torch

        self._places.clear()
        compared = [
            Replacement(holder, name, self._answering(getattr(holder, name)))
            for holder in (torch, torch.Tensor)
            for name in _COMPARING
        ]
        with torch_questions.answering_of_data(self._answer), replaced(compared):
            yield

    def notes(self) -> list[Diagnostic]:
        """A note of each."""
        return [note_of_check(place) for place in self._places]

    def _answer(self, _: Any) -> bool | None:
        """What is asked of data now is to be, where it is a check."""
        asking = asking_of_data()
        return None if asking is None else self._answered(asking, by_call=False)

    def _answered(self, asking: FrameType, *, by_call: bool) -> bool | None:
        answer = _passing(asking, by_call=by_call)
        if answer is not None and (place := user_place()) is not None:
            self._places.setdefault(place)
        return answer

    def _answering(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which gives what goes on where only data could tell what it gives."""

        def called(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                if not isinstance(error, (DeclinedError, *fake_tensors.decided_by_data())):
                    raise
                answer = self._answered(sys._getframe(1), by_call=True)
                if answer is None:
                    raise
                if isinstance(error, DeclinedError):
                    error.answered()
                return answer

        return called
