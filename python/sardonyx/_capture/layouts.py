"""Strides that a model asks for while torch.jit.trace runs it: the trace keeps the example's."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .decided import varies
from .frozen import Frozen
from .places import user_place


class TellingOfStrides(TorchFunctionMode):
    """Within it, `frozen` gets the lines of the model that ask for strides of a tensor whose sizes
    may vary."""

    def __init__(self, frozen: Frozen) -> None:
        super().__init__()
        self._frozen = frozen

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """The call; it is told of where it asks for strides."""
        if function is torch.Tensor.stride and torch._C._get_tracing_state() is not None:
            sizes = [size for size in args[0].shape if isinstance(size, torch.Tensor)]
            if any(map(varies, sizes)) and (place := user_place()) is not None:
                self._frozen.python.append(place)
        return function(*args, **(kwargs or {}))
