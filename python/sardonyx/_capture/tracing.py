"""Models that torch.export does not capture, by what torch.jit.trace saw of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch

from .torchscript import as_module


def traced(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> torch.nn.Module:
    """A module of the operators that the example runs through, with the same parameters.

    Branches and loops that depend on data are as the example took them; PyTorch warns of each
    (TracerWarning). Raises what torch.jit.trace raises.
    """
    bound = inspect.signature(model.forward).bind(*args, **kwargs)
    with torch.no_grad():
        return as_module(torch.jit.trace(model, bound.args, check_trace=False), bound.args, {})
