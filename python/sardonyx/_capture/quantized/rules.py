"""Which rule a function of torch has for quantized tensors: a table that functions.py fills, and
what is said of many functions at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import rounding

Rule = Callable[..., Any]

RULES: dict[str, Rule] = {}

# The same elements in the same places.
_COPIES = frozenset(("clone", "contiguous"))
# The same elements elsewhere, in one tensor or several.
_VIEWS = frozenset(
    ("alias", "chunk", "detach", "expand", "flatten", "flip", "index_select", "movedim", "narrow",
     "permute", "repeat", "reshape", "roll", "select", "split", "squeeze", "swapaxes", "t",
     "tensor_split", "transpose", "unbind", "unflatten", "unsqueeze", "view")
)  # fmt: skip
# Scale and zero point stay what they are.
_IN_STEPS = frozenset(
    ("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool1d",
     "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d", "mean")
)  # fmt: skip
# Likewise, rounded as quantize_per_tensor() rounds.
_RESAMPLING = frozenset(("interpolate", "upsample"))


class UnsupportedError(RuntimeError):
    """A function that quantized tensors have no capture for."""


def rule_of(name: str) -> Rule:
    """The rule of the function of this name; UnsupportedError where it has none."""
    if rule := RULES.get(name):
        return rule
    if name in _COPIES:
        return lambda q, *args, **kwargs: q.copied(called(name, q.integers, args, kwargs))
    if name in _VIEWS:
        return lambda q, *args, **kwargs: q.moved(called(name, q.integers, args, kwargs))
    if name in _IN_STEPS:
        return lambda q, *args, **kwargs: q.in_steps(lambda x: called(name, x, args, kwargs))
    if name in _RESAMPLING:
        return lambda q, *args, **kwargs: q.in_steps(
            lambda x: called(name, x, args, kwargs), rounding.resampled
        )
    raise UnsupportedError(
        f"'{name}' of a quantized tensor is not supported; dequantize() the tensor before it"
    )


def called(name: str, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What torch's function of this name gives for x and the rest."""
    # The methods come first: they take sizes one by one, too.
    function = getattr(torch.Tensor, name, None) or getattr(torch.nn.functional, name, None)
    return (function or getattr(torch, name))(x, *args, **kwargs)
