"""Contexts in which code of ours runs apart from what captures or watches a program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from .probing import MissingError, lookup


@contextmanager
def unseen() -> Iterator[None]:
    """Within it, no mode sees functions of tensors."""
    with torch._C.DisableTorchFunction():
        yield


@contextmanager
def computing() -> Iterator[None]:
    """Within it, tensors have data, whatever captures or watches the program that runs."""
    with ExitStack() as stack, torch.no_grad():
        _enter(stack, "torch.utils._python_dispatch", "_disable_current_modes")
        yield


@contextmanager
def not_captured() -> Iterator[None]:
    """Within it, what torch.export runs does not go into its program."""
    with ExitStack() as stack:
        _enter(stack, "torch.fx.experimental.proxy_tensor", "disable_proxy_modes_tracing")
        yield


def _enter(stack: ExitStack, module: str, name: str) -> None:
    """Enters a context of PyTorch, where it has it; nothing is known to need one in its place."""
    try:
        context = lookup(module, name)
    except MissingError:
        return
    stack.enter_context(context())
