"""What Ctrl-C does to a command that is written in Python: it ends, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def ends_at_once() -> Iterator[None]:
    """Within, an interrupt ends the process as it ends one that is not Python's.

    For imports, which have nothing to put back: PyTorch's take seconds, and take an interrupt for
    an optional module that is missing.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # whoever called this ignores interrupts
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def end_interrupted() -> int:
    """Says so and ends the process by the signal, for the shell or script that waits for it."""
    print("interrupted: nothing was written", file=sys.stderr)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    return 128 + signal.SIGINT  # where signals are blocked
