"""Ties that PyTorch itself decides in another way: equal values in top-k, and scores in float16."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class FirstOfEqual(TorchDispatchMode):
    """Within it, top-k takes the first ones of equal values, as ONNX does. PyTorch does not
    define which ones it takes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # PyTorch has no types here

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is not torch.ops.aten.topk.default:
            return func(*args, **(kwargs or {}))
        values, k, dim, largest = (*args, *(-1, True)[len(args) - 2 :])[:4]
        ordered = torch.sort(values, dim=dim, descending=largest, stable=True)
        return ordered.values.narrow(dim, 0, k), ordered.indices.narrow(dim, 0, k)


def in_float16(model: torch.nn.Module) -> torch.nn.Module:
    """A copy of the model in float16."""
    return copy.deepcopy(model).half()
