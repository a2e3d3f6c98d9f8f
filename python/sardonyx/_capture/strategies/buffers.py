"""What a model's buffers hold, which a run of it with data may change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def buffers_put_back(model: torch.nn.Module) -> Iterator[None]:
    """After it, the buffers of `model` hold what they held before, as running statistics and
    counters do not after a run."""
    before = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, values in before:
                # Not every operator that writes one says so by its version.
                if not torch.equal(buffer, values):
                    buffer.copy_(values)
