"""How many threads work on weights."""

from __future__ import annotations


def set_num_threads(count: int) -> None:
    """Limits the threads that cast, quantize and write weights, for the whole process.

    `count` is 1 or more; 0, the default, is one thread for each processor. What is written does not
    depend on it. PyTorch's own threads are not affected.
    """
    from sardonyx import _native

    if count < 0:
        raise ValueError(f"{count} threads: the count must be 0 or more")
    _native.set_threads(count)
