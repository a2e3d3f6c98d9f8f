"""Asking a traced model's tensors without leaving it in the trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._torch_private import state, torchscript


@contextmanager
def unrecorded() -> Iterator[None]:
    """Within it, torch.jit.trace records nothing: sizes are plain numbers, without a warning."""
    with torchscript.untraced():
        yield


@contextmanager
def checks_of_sizes() -> Iterator[None]:
    """Within it, torch._check takes comparisons of sizes, which are tensors while a model is
    traced."""
    holder, name = state.check_with()
    check = getattr(holder, name)

    def checked(error_type: Any, cond: Any, message: Any) -> None:
        if isinstance(cond, torch.Tensor) and not cond.dim():
            with unrecorded():
                cond = bool(cond)
        check(error_type, cond, message)

    with replaced([Replacement(holder, name, checked)]):
        yield
