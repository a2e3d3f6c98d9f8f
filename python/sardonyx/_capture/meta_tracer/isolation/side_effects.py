"""What a model's code does besides computing: undone, and suppressed where it runs again."""

from __future__ import annotations

import contextlib
import io
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sardonyx._torch_private.state import default_device


@contextmanager
def run_again_where_declined() -> Iterator[None]:
    """Within it, printed output and warnings are held back.

    They appear at the end. After an error they are dropped, since torch.export runs the model
    again. After an error or an interrupt, the states of the random number generators and PyTorch's
    settings are restored.
    """
    put_back = kept()
    printed, complained = io.StringIO(), io.StringIO()
    warned: list[warnings.WarningMessage] = []
    runs_again = False
    try:
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(complained),
            warnings.catch_warnings(record=True) as warned,
        ):
            yield
    except BaseException as error:
        runs_again = isinstance(error, Exception)
        put_back()
        raise
    finally:
        if not runs_again:
            _replay(printed.getvalue(), complained.getvalue(), warned)


def _replay(printed: str, complained: str, warned: list[warnings.WarningMessage]) -> None:
    if printed:
        sys.stdout.write(printed)
    if complained:
        sys.stderr.write(complained)
    for each in warned:
        warnings.showwarning(
            each.message, each.category, each.filename, each.lineno, each.file, each.line
        )


@contextmanager
def output_suppressed() -> Iterator[None]:
    """Within it, output and warnings are suppressed: they were shown before."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def kept() -> Callable[[], None]:
    """What puts back the state of random numbers, and settings."""
    import torch

    of_python, of_torch = random.getstate(), torch.get_rng_state()
    numpy: Any = sys.modules.get("numpy")
    of_numpy = numpy.random.get_state() if numpy is not None else None
    dtype, device_before = torch.get_default_dtype(), default_device()
    deterministic = torch.are_deterministic_algorithms_enabled()

    def put_back() -> None:
        random.setstate(of_python)
        torch.set_rng_state(of_torch)
        if numpy is not None:
            numpy.random.set_state(of_numpy)
        torch.set_default_dtype(dtype)
        if default_device() is not device_before:
            torch.set_default_device(None if device_before is None else device_before.device)
        if torch.are_deterministic_algorithms_enabled() != deterministic:
            torch.use_deterministic_algorithms(deterministic)

    return put_back
