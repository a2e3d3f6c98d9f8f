"""Asking a traced model's tensors without leaving it in the trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .replaced import Replacement, replaced


@contextmanager
def unrecorded() -> Iterator[None]:
    """Within it, torch.jit.trace sees nothing: sizes are numbers, and nobody is told of them."""
    native: Any = torch._C
    state = native._get_tracing_state()
    native._set_tracing_state(None)
    try:
        yield
    finally:
        native._set_tracing_state(state)


@contextmanager
def checks_of_sizes() -> Iterator[None]:
    """Within it, torch._check takes comparisons of sizes, which are tensors while a model is
    traced."""
    module: Any = torch
    check = module._check_with

    def checked(error_type: Any, cond: Any, message: Any) -> None:
        if isinstance(cond, torch.Tensor) and not cond.dim():
            with unrecorded():
                cond = bool(cond)
        check(error_type, cond, message)

    with replaced([Replacement(module, "_check_with", checked)]):
        yield
