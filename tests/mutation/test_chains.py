"""Random chains of views and writes, compared with eager PyTorch.

`python -m pytest tests/mutation/test_chains.py` runs 200 of them; SARDONYX_CHAINS=10000 that many,
a thousand a test, so that they can be run apart: `-k "thousand-3 or thousand-4"`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.harness import assert_exports
from tests.harness.rotation import long_test

from .programs import module_of, numbers

CHAINS = int(os.environ.get("SARDONYX_CHAINS", "200"))
THOUSANDS = range(max(1, CHAINS // 1000))
DTYPES = (torch.float32, torch.int64, torch.int32)

# A step is a name and three numbers, read modulo what fits the tensor at hand.
Step = tuple[str, int, int, int]


def section(x: Tensor, a: int, b: int, c: int) -> Tensor:
    dim = a % x.dim()
    size = x.shape[dim]
    start = b % size
    return x.narrow(dim, start, 1 + c % (size - start))


def stepped(x: Tensor, a: int, b: int, c: int) -> Tensor:
    index = [slice(None)] * x.dim()
    index[a % x.dim()] = slice(b % x.shape[a % x.dim()], None, 1 + c % 3)
    return x[tuple(index)]


def selected(x: Tensor, a: int, b: int, c: int) -> Tensor:
    dim = a % x.dim()
    size = x.shape[dim]
    return x.select(dim, b % size - (size if c % 2 else 0))


def diagonal(x: Tensor, a: int, b: int, _: int) -> Tensor:
    if x.dim() < 2:
        return x
    rows, columns = x.shape[0], x.shape[1]
    return x.diagonal(a % (columns + rows - 1) - (rows - 1), 0, 1)


def halves(x: Tensor, a: int, b: int, c: int) -> Tensor:
    parts = x.chunk(1 + b % 3, a % x.dim())
    return parts[c % len(parts)]


VIEWS: dict[str, Callable[[Tensor, int, int, int], Tensor]] = {
    "section": section,
    "stepped": stepped,
    "selected": selected,
    "diagonal": diagonal,
    "halves": halves,
    "transposed": lambda x, a, b, c: x.transpose(a % x.dim(), b % x.dim()),
    "unsqueezed": lambda x, a, b, c: x.unsqueeze(a % (x.dim() + 1)),
    "squeezed": lambda x, a, b, c: x.squeeze() if x.numel() > 1 else x,
    "reshaped": lambda x, a, b, c: x.reshape(-1),
    "paired": lambda x, a, b, c: x.reshape(2, -1) if x.numel() % 2 == 0 else x,
    "unbound": lambda x, a, b, c: x.unbind(a % x.dim())[0],
    "detached": lambda x, a, b, c: x.detach(),
}

WRITES: dict[str, Callable[[Tensor, int, int], object]] = {
    "add": lambda v, a, b: v.add_(a),
    "multiply": lambda v, a, b: v.mul_(2),
    "fill": lambda v, a, b: v.fill_(b),
    "copy": lambda v, a, b: v.copy_(torch.arange(v.numel()).view(v.shape) + a),
    "row": lambda v, a, b: v.copy_(torch.full(v.shape[-1:], a)),
    "negate": lambda v, a, b: v.neg_(),
    "mask": lambda v, a, b: v.masked_fill_(v > b, a),
    "clamp": lambda v, a, b: v.clamp_(-a, a),
}


def run_chain(base: Tensor, steps: list[Step]) -> tuple[Tensor, ...]:
    """Views pile up in a list; a step views or writes one of them; all are read at the end."""
    seen = [base]
    for name, which, a, b in steps:
        target = seen[which % len(seen)]
        if name in WRITES:
            WRITES[name](target, a % 5, b % 5)
        elif target.dim() > 0 and target.numel() > 0:
            seen.append(VIEWS[name](target, a, b, a + b))
    return tuple(each * 1 for each in seen)


names = st.sampled_from([*VIEWS, *WRITES])
small = st.integers(0, 30)
chains = st.lists(st.tuples(names, small, small, small), min_size=2, max_size=10)


@long_test(1)
@pytest.mark.parametrize("thousand", THOUSANDS, ids=lambda n: f"thousand-{n}")
def test_chains(thousand: int) -> None:
    @settings(
        max_examples=min(CHAINS, 1000),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @seed(thousand)
    @given(steps=chains, dtype=st.sampled_from(DTYPES), on_input=st.booleans())
    def check(steps: list[Step], dtype: torch.dtype, on_input: bool) -> None:
        def run(x: Tensor) -> Any:
            return run_chain(x if on_input else x.clone(), steps)

        assert_exports(module_of(run, 1), (numbers(4, 3, 2, dtype=dtype),))

    check()
