"""Sizes that Python takes for numbers while torch.jit.trace runs a model, of which it says nothing:
`range(x.shape[0])`, `[x] * x.shape[0]`, `names[x.shape[0]]`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .frozen import Frozen
from .places import user_place
from .replaced import Replacement, replaced

# The bounds of a tensor's own slices are kept, though their index is asked for.
_SLICING = ("__getitem__", "__setitem__")


@contextmanager
def telling_of_indices(frozen: Frozen) -> Iterator[None]:
    """Within it, `frozen` gets the lines of the model that ask a traced tensor for its index."""
    kind: Any = torch.Tensor
    index = kind.__index__

    def noted(tensor: torch.Tensor) -> int:
        if (
            not frozen.keeping
            and torch._C._get_tracing_state() is not None
            and (place := user_place()) is not None
        ):
            frozen.python.append(place)
        number: int = index(tensor)
        return number

    def quiet(method: Callable[..., Any]) -> Callable[..., Any]:
        def sliced(*args: Any) -> Any:
            with frozen.keeping_integers():
                return method(*args)

        return sliced

    slices = [Replacement(kind, name, quiet(getattr(kind, name))) for name in _SLICING]
    with replaced([Replacement(kind, "__index__", noted), *slices]):
        yield
