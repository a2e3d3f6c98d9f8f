"""Modules that forward() converts to another dtype: `self.router = self.router.to(torch.float32)`.

PyTorch writes the converted weights into the module, which a capture must leave as it is. Within
`conversions_recorded()`, the module has the results of recorded casts instead, until the run ends.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._torch_private.state import buffers_of, parameters_of

_BY_NAME = {
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "float": torch.float32,
    "double": torch.float64,
}


@contextmanager
def conversions_recorded() -> Iterator[None]:
    """Within it, the methods of modules that convert weights to a dtype record casts of them."""
    before: list[tuple[dict[str, Any], str, Any]] = []

    def converted(module: torch.nn.Module, dtype: torch.dtype) -> torch.nn.Module:
        for part in module.modules():
            for table in (parameters_of(part), buffers_of(part)):
                for name, value in table.items():
                    if value is not None and value.is_floating_point() and value.dtype != dtype:
                        before.append((table, name, value))
                        table[name] = value.to(dtype)
        return module

    def by_arguments(to: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(to)
        def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            dtype = _dtype_of(*args, **kwargs)
            is_real = dtype is not None and dtype.is_floating_point
            return converted(module, dtype) if is_real else to(module, *args, **kwargs)

        return call

    module = torch.nn.Module
    methods = [Replacement(module, "to", by_arguments(module.to))]
    for name, dtype in _BY_NAME.items():
        methods.append(Replacement(module, name, functools.partialmethod(converted, dtype)))
    try:
        with replaced(methods):
            yield
    finally:
        for table, name, value in reversed(before):
            table[name] = value


def _dtype_of(*args: Any, **kwargs: Any) -> Any:
    """The dtype that Module.to() is asked for; None where it is asked for a device alone."""
    for each in (*args, kwargs.get("dtype"), kwargs.get("tensor")):
        if isinstance(each, torch.dtype):
            return each
        if isinstance(each, torch.Tensor):
            return each.dtype
    return None
