"""Arguments whose elements a model takes for Python numbers: the sizes of images, mostly.

A model that splits a batch by `grid_thw.tolist()` has as many steps as there are images, of as many
elements as each has. Where no program captures that for all values, the values of the example are
constants of the graph, and the runner takes no others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from sardonyx._torch_private import pytree
from sardonyx.hf.base.constant_inputs import with_known

_NUMBERS = frozenset(
    (torch.Tensor.tolist, torch.Tensor.item, torch.Tensor.__int__, torch.Tensor.__index__)
)


class ReadValues(TorchFunctionMode):
    """Records the arguments whose elements the model reads as numbers while it runs.

    Attributes:
        read: their names.
    """

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        super().__init__()
        self.read: set[str] = set()
        self._sources: dict[int, frozenset[str]] = {}
        self._alive: list[torch.Tensor] = []  # so that no other tensor gets the id of one
        for name, value in inputs.items():
            if isinstance(value, torch.Tensor) and not value.is_floating_point():
                self._comes_of(value, frozenset([name]))

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """The call; what is computed of integer arguments alone is noted as theirs."""
        result = function(*args, **(kwargs or {}))
        tensors = [
            leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)
        ]
        sources = [self._sources.get(id(tensor)) for tensor in tensors]
        if not sources or None in sources:
            return result
        names = frozenset(name for source in sources for name in source or ())
        if function in _NUMBERS:
            self.read |= names
        for leaf in pytree.tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self._comes_of(leaf, names)
        return result

    def _comes_of(self, tensor: torch.Tensor, names: frozenset[str]) -> None:
        self._sources[id(tensor)] = names
        self._alive.append(tensor)


@contextlib.contextmanager
def fixed(model: torch.nn.Module, values: Mapping[str, torch.Tensor]) -> Iterator[None]:
    """The model takes no arguments of these names, and has these values for them."""
    forward = model.forward
    vars(model)["forward"] = with_known(forward, values, {})
    try:
        yield
    finally:
        del vars(model)["forward"]
