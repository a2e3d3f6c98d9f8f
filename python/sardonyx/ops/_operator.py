"""Operators of PyTorch made of the functions that compute them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")

_LIBRARY = torch.library.Library("sardonyx", "FRAGMENT")

# By name: what computes an operator of opset 23, of ATen operators.
COMPUTED: dict[str, Callable[..., Any]] = {}


def onnx_operator(
    name: str, schema: str, fake: Callable[..., Any], opset: int = 23
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes `sardonyx::<name>.opset<opset>` of the function below it, which then calls that.

    `schema` has the operator's parameters and results; those before the `*` may have other names
    there. `fake` says the results' shapes.
    """
    overload = f"{name}.opset{opset}"

    def define(compute: Callable[P, R]) -> Callable[P, R]:
        _LIBRARY.define(f"{overload}{schema}")
        _LIBRARY.impl(overload, compute, "CompositeExplicitAutograd")
        torch.library.register_fake(f"sardonyx::{overload}", fake, lib=_LIBRARY)
        if opset == 23:  # what is newer is a loop over tokens, which no program can have
            COMPUTED[name] = compute
        operator: Any = getattr(getattr(torch.ops.sardonyx, name), f"opset{opset}")
        parameters = inspect.signature(compute).parameters.values()
        positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]

        @functools.wraps(compute)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given: dict[str, Any] = dict(kwargs)
            rest = [given.pop(each.name, each.default) for each in positional[len(args) :]]
            if any(each is inspect.Parameter.empty for each in rest):
                raise TypeError(f"{name} takes {', '.join(each.name for each in positional)}")
            result: R = operator(*args, *rest, **given)
            return result

        return call

    return define
