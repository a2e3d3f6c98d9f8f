"""Asking a traced model's tensors without leaving it in the trace."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
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
    traced, and what recurrent layers check is not recorded."""
    holder, name = state.check_with()
    check = getattr(holder, name)

    def checked(error_type: Any, cond: Any, message: Any) -> None:
        if isinstance(cond, torch.Tensor) and not cond.dim():
            with unrecorded():
                cond = bool(cond)
        check(error_type, cond, message)

    recurrent = [
        Replacement(layer, _CHECKS_OF_RECURRENT, _unrecorded(vars(layer)[_CHECKS_OF_RECURRENT]))
        for layer in (torch.nn.RNNBase, torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU)
        if _CHECKS_OF_RECURRENT in vars(layer)
    ]
    with replaced([Replacement(holder, name, checked), *recurrent]):
        yield


# Of a recurrent layer, what compares the sizes of its arguments, and gives nothing.
_CHECKS_OF_RECURRENT = "check_forward_args"


def _unrecorded(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with unrecorded():
            return function(*args, **kwargs)

    return called
