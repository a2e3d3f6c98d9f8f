"""Ctrl-C while a model is captured: it waits for a moment at which all can be put back."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch

_waiting: list[Callable[[], Any]] = []


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Within it, an interrupt is raised where the model's own code runs, at the next call of an
    operator, or at the end. Raised anywhere else, it would come between PyTorch's changes of its
    own state and what undoes them. A second one is raised at once."""
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = usual

    def interrupted(number: int, frame: FrameType | None) -> None:
        if _waiting or _is_of_model(frame):
            handler(number, frame)
        else:
            _waiting.append(lambda: handler(number, frame))

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        waiting, _waiting[:] = list(_waiting), []
        for raise_it in waiting:
            raise_it()


def raise_waiting() -> None:
    """Raises an interrupt that waits."""
    if _waiting:
        _waiting.pop()()


def _is_of_model(frame: FrameType | None) -> bool:
    """Whether the code that runs is neither PyTorch's nor ours nor Python's own."""
    file = frame.f_code.co_filename if frame is not None else "<"
    is_pythons = file.startswith(_PYTHONS) and "site-packages" not in file
    return not is_pythons and not file.startswith(_OURS_AND_TORCHS)


_PYTHONS = str(Path(os.__file__).parent)
_OURS_AND_TORCHS = (
    str(Path(__file__).parents[3]),
    str(Path(torch.__file__).parent),
    "<",  # what was written at run time, as data classes are
)
