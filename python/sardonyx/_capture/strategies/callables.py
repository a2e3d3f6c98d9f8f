"""Functions and bound methods as modules: torch.export takes nothing else."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

import torch

from sardonyx._base.errors import usage_error


def as_module(model: Any) -> torch.nn.Module:
    """The module itself, or one that calls the function. Raises UsageError for what is neither."""
    if isinstance(model, torch.nn.Module):
        return model
    if isinstance(model, type) or not callable(model):
        raise usage_error(
            f"model is a {type(model).__name__}, not a module or a function", _help_for(model)
        )
    return Function(model)


def _help_for(model: Any) -> str:
    if isinstance(model, (str, os.PathLike)):
        return "sardonyx.convert(path) reads files of torch.export.save and torch.jit.save"
    if isinstance(model, Mapping):
        return "a state dict has no forward(): load it into its module by load_state_dict()"
    if isinstance(model, type):
        return f"make one: {model.__name__}(...)"
    return ""


class Function(torch.nn.Module):
    """Calls a function; its parameters keep their names.

    The module of a bound method is a submodule, so that its weights stay weights. Tensors that a
    function merely closes over become constants of the program.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        owner = getattr(function, "__self__", None)
        if isinstance(owner, torch.nn.Module):
            self.module = owner
            self.training = owner.training
        self.forward = function if _has_signature(function) else _with_signature(function)


def _has_signature(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function)
    except ValueError:
        return False
    return True


def _with_signature(function: Callable[..., Any]) -> Callable[..., Any]:
    """For those of PyTorch that are written in C++, as `torch.special.zeta`."""

    def forward(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return forward
