"""What holds in the whole process while an export is going on."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_exporting = 0
# Of the export that asks: another thread's has its own.
_follows_size_branches: ContextVar[bool] = ContextVar("follows_size_branches", default=True)
_ends_at_data: ContextVar[bool] = ContextVar("ends_at_data", default=False)
_capture = threading.RLock()


def _forget_other_threads() -> None:
    """A child process has none of them, and so nobody who would let go of the lock."""
    global _exporting, _capture  # noqa: PLW0603 (that is what the module is for)
    _capture = threading.RLock()
    _exporting = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


def is_in_onnx_export() -> bool:
    """Whether the code that asks runs while a model is captured for export.

    PyTorch's own `torch.onnx.is_in_onnx_export()` says the same during our capture.
    """
    return _exporting > 0


@contextmanager
def exporting() -> Iterator[None]:
    """Within it, `is_in_onnx_export()` is true."""
    global _exporting  # noqa: PLW0603 (that is what the module is for)
    _exporting += 1
    try:
        yield
    finally:
        _exporting -= 1


def follows_size_branches() -> bool:
    """Whether both sides of Python's branches on sizes are to be in the program."""
    return _follows_size_branches.get()


@contextmanager
def leaving_size_branches() -> Iterator[None]:
    """Within it, programs have one side of branches on sizes, as the example takes them."""
    token = _follows_size_branches.set(False)
    try:
        yield
    finally:
        _follows_size_branches.reset(token)


def ends_at_data() -> bool:
    """Whether a capture is to end where what the model asks of data has no answer."""
    return _ends_at_data.get()


@contextmanager
def ending_at_data() -> Iterator[None]:
    """Within it, a capture ends where what the model asks of data has no answer for fake-tensor
    tracing. torch.export asks the same, in minutes; the caller knows something else to do."""
    token = _ends_at_data.set(True)
    try:
        yield
    finally:
        _ends_at_data.reset(token)


@contextmanager
def one_capture_at_a_time() -> Iterator[None]:
    """Within it, no other thread captures: what torch.export, its modes and our patches of PyTorch
    change is one for the whole process, as is the mode of a model that two threads export."""
    with _capture:
        yield


def raise_interrupt(error: BaseException) -> None:
    """KeyboardInterrupt where `error` is what PyTorch made of one on its way up."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
