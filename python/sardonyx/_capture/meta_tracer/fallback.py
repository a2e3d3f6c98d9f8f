"""How fake-tensor tracing says that it leaves a model to torch.export."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_raised: list[list[DeclinedError]] = []


class DeclinedError(Exception):
    """Something that fake-tensor tracing is not sure of; the message says what."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        if _raised:
            _raised[-1].append(self)

    def answered(self) -> None:
        """Someone else was sure of it."""
        if _raised and self in _raised[-1]:
            _raised[-1].remove(self)


class TooManyQuestionsError(DeclinedError):
    """The model asks more of sizes than is answered in a capture, as a long loop does."""

    def __init__(self) -> None:
        super().__init__("the model asks too much of sizes, as a long loop does")


@contextmanager
def none_forgotten() -> Iterator[None]:
    """Raises at its end what was raised within it, also where the model caught it."""
    raised: list[DeclinedError] = []
    _raised.append(raised)
    try:
        yield
    finally:
        _raised.remove(raised)
    if raised:
        raise raised[0]
