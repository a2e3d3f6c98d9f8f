"""Reading at places that tensors say, in code that is written for one place and run for all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sardonyx._torch_private import operators


@contextmanager
def plain_indices() -> Iterator[None]:
    """Within it, `mask[batch, key]` with tensors of one element, as masks of attention are written
    under torch.vmap, is `aten::index`.

    PyTorch has an autograd.Function for it, for the sake of its gradient, which torch.export writes
    down as a call of Python (`flat_apply`). A captured program has no gradients.
    """
    with operators.index_function(_index):
        yield


def _index(tensor: Any, indices: list[Any]) -> Any:
    import torch

    return torch.ops.aten.index(tensor, indices)
