"""Layers of experts that go over those which a run's tokens chose.

transformers' own layers of experts are one product each, but for a few, whose code loops over the
experts that got tokens: which these are, no captured program knows. An expert without tokens
computes nothing and adds nothing, so that all of them are visited instead.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

from sardonyx._torch_private import sizes

from .constant_inputs import KnownValues

# What transformers calls the classes of such layers, by the end of the name.
_LAYER = "Experts"
_CHOSEN = (torch.nonzero, torch.Tensor.nonzero)


class _AllExperts(KnownValues):
    """Has all experts for those that were chosen."""

    def __init__(self, number: int | None) -> None:
        super().__init__({})
        self._number = number

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """The numbers of all experts, [experts, 1], where it is asked which ones were chosen."""
        if function in _CHOSEN and args[0].dim() == 1 and type(args[0].shape[0]) is int:
            # Behind the layer's own, there may be one that stands for those of other devices.
            count = min(args[0].shape[0], self._number or args[0].shape[0])
            numbers = super().__torch_function__(torch.arange, types, (count,))
            return super().__torch_function__(torch.unsqueeze, types, (numbers, 1))
        if function is torch.Tensor.numel:
            number = function(*args)
            # It is asked whether there are tokens to be computed of, and none is fine, too.
            return torch.sym_max(number, 1) if _is_of_data(number) else number
        return super().__torch_function__(function, types, args, kwargs)


@contextlib.contextmanager
def all_experts(model: torch.nn.Module) -> Iterator[None]:
    """Has layers of experts visit all of these."""
    layers = [m for m in model.modules() if type(m).__name__.endswith(_LAYER)]
    for layer in layers:
        vars(layer)["forward"] = _visiting(layer.forward, getattr(layer, "num_experts", None))
    try:
        yield
    finally:
        for layer in layers:
            del vars(layer)["forward"]


def _is_of_data(size: Any) -> bool:
    return isinstance(size, torch.SymInt) and bool(sizes.symbols_of_data(size))


def _visiting(forward: Callable[..., Any], number: int | None) -> Callable[..., Any]:
    def visit(*args: Any, **kwargs: Any) -> Any:
        with _AllExperts(number):
            return forward(*args, **kwargs)

    return visit
