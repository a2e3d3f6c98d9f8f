"""`torch.linspace` with as many numbers as a size says.

PyTorch's operator takes a plain integer, so that every capture would specialize the size.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .patching import Replacement, replaced


@contextmanager
def linspace_of_sizes() -> Iterator[None]:
    """Within it, torch.linspace() of a dynamic size is arithmetic on torch.arange()."""
    import torch

    with replaced([Replacement(torch, "linspace", _of_sizes(torch.linspace))]):
        yield


@contextmanager
def own_linspace() -> Iterator[None]:
    """Within it, it is PyTorch's again: torch.jit.trace keeps what the operator itself is given."""
    import torch

    own = getattr(torch.linspace, "__wrapped__", torch.linspace)
    with replaced([Replacement(torch, "linspace", own)]):
        yield


def _of_sizes(function: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        steps = args[2] if len(args) > 2 else kwargs.get("steps")
        if not isinstance(steps, torch.SymInt) or kwargs.get("out") is not None:
            return function(*args, **kwargs)
        return _spaced(*args, **kwargs)

    return call


def _spaced(
    start: Any, end: Any, steps: Any, *, dtype: Any = None, device: Any = None, **_: Any
) -> Any:
    """As PyTorch counts: from both ends, in the result's type, so that the last number is `end`.
    Integers are counted in float64, and their ends are integers first."""
    import torch

    dtype = dtype or torch.get_default_dtype()
    counted = dtype if dtype.is_floating_point or dtype.is_complex else torch.float64

    def tensor(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            value = torch.scalar_tensor(value, dtype=dtype, device=device)
        return value.to(dtype).to(counted)

    first, last = tensor(start), tensor(end)
    index = torch.arange(steps, device=device)
    gaps = torch.scalar_tensor(torch.sym_max(steps - 1, 1), dtype=counted, device=device)
    step = (last - first) / gaps
    place = index.to(counted)
    # A single number is `start`.
    in_first_half = index < torch.sym_max(steps // 2, 1)
    spaced = torch.where(in_first_half, first + place * step, last - (gaps - place) * step)
    return spaced.to(dtype)
