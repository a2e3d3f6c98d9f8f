"""`torch.istft` that gives as many samples as a size says: `length=x.shape[-1]`.

PyTorch's operator takes a plain integer, so that every capture would specialize the size.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .patching import Replacement, replaced


@contextmanager
def istft_of_sizes() -> Iterator[None]:
    """Within it, torch.istft() of a dynamic length is a part of what it gives without one."""
    import torch

    with _istft(_of_sizes(torch.istft)):
        yield


@contextmanager
def own_istft() -> Iterator[None]:
    """Within it, it is PyTorch's again: torch.jit.trace keeps what the operator itself is given."""
    import torch

    with _istft(getattr(torch.istft, "__wrapped__", torch.istft)):
        yield


@contextmanager
def _istft(function: Callable[..., Any]) -> Iterator[None]:
    import torch

    holders = (torch, torch.functional)
    with replaced([Replacement(each, "istft", function) for each in holders]):
        yield


def _of_sizes(function: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    # The method's parameters are those of the function, which has no signature.
    signature = inspect.signature(torch.Tensor.istft)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        length: Any = args[8] if len(args) > 8 else kwargs.get("length")
        if not _is_size(length):
            return function(*args, **kwargs)
        if "input" in kwargs:
            args = (kwargs.pop("input"), *args)
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        start = given.arguments["n_fft"] // 2 if given.arguments["center"] else 0
        # (..., samples) of all frames, whose ends the window leaves undefined
        given.arguments |= {"center": False, "length": None}
        whole = function(*given.args, **given.kwargs)
        # What lies behind the last frame is 0. Zeros for all of it ask nothing of the sizes.
        return torch.nn.functional.pad(whole, (0, length))[..., start : start + length]

    return call


def _is_size(length: Any) -> bool:
    import torch

    return isinstance(length, torch.SymInt)
