"""Models that torch.export does not capture, by what torch.jit.trace saw of them."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.jit import TracerWarning as _TracerWarning  # type: ignore[attr-defined]

from .frozen import Frozen
from .places import Place
from .scripted import decided_by_data
from .torchscript import as_module


def traced(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any], frozen: Frozen
) -> torch.nn.Module:
    """A module of the operators that the example runs through, with the same parameters.

    Branches and loops of Python that depend on data are as the example took them; `frozen` gets
    their lines, and those of scripted functions, which stay what they are. Raises what
    torch.jit.trace raises.
    """
    bound = inspect.signature(model.forward).bind(*args, **kwargs)
    with torch.no_grad():
        with _tracer_warnings(frozen):
            script = torch.jit.trace(model, bound.args, check_trace=False)
        frozen.scripted += decided_by_data(script.inlined_graph)
        return as_module(script, bound.args, {})


@contextmanager
def _tracer_warnings(frozen: Frozen) -> Iterator[None]:
    """Within it, `frozen` gets what PyTorch warns of as frozen by tracing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", _TracerWarning)
        yield
    for each in caught:
        if issubclass(each.category, _TracerWarning):
            frozen.python.append(Place(each.filename, each.lineno))
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
