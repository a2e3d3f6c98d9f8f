"""Random tensors whose generator is None: PyTorch takes that for an operator of its own, which it
cannot capture where sizes are free."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .patching import Replacement, replaced

_FUNCTIONS = ("rand", "randn", "randint", "randperm")


@contextmanager
def generators_left_out() -> Iterator[None]:
    """Within it, `generator=None` is as if it were not there."""
    import torch

    with replaced(Replacement(torch, name, _without(getattr(torch, name))) for name in _FUNCTIONS):
        yield


def _without(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("generator", kwargs) is None:
            del kwargs["generator"]
        return function(*args, **kwargs)

    return call
