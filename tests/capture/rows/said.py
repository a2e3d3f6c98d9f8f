"""What rows are written in: tensors of every type, size and layout, and sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.complex64, torch.complex128),
)
NUMBERS = (True, 2, -1, 2.5, 1 + 2j)
F, INT, B, D, C = torch.float32, torch.int64, torch.bool, torch.float64, torch.complex64


@dataclass(frozen=True)
class T:
    """A tensor. Letters among its sizes are open; axes lie in memory in the order given, outermost
    first, each element `step` places from the next, and those of `spread` all in one place."""

    sizes: str = "ab"
    dtype: torch.dtype = F
    order: str = ""
    step: int = 1
    spread: str = ""

    def __repr__(self) -> str:
        parts = (self.sizes or "()", str(self.dtype).removeprefix("torch."), self.order)
        more = (f"step {self.step}" * (self.step != 1), f"spread {self.spread}" * bool(self.spread))
        return " ".join(part for part in (*parts, *more) if part)

    def layout(self, values: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        """Its sizes and strides where letters stand for these."""
        sizes = [values[c] if c.isalpha() else int(c) for c in self.sizes]
        strides: list[Any] = [0] * len(sizes)
        step: Any = self.step
        for axis in map(int, reversed(self.order or "0123456789"[: len(sizes)])):
            if str(axis) not in self.spread:
                strides[axis] = step
                step *= 1 if type(sizes[axis]) is int and sizes[axis] == 0 else sizes[axis]
        return sizes, strides


@dataclass(frozen=True)
class S:
    """A size: a product of the sizes that letters stand for, and more added to it."""

    letters: str
    more: int = 0

    def value(self, values: dict[str, Any]) -> Any:
        """Where letters stand for these."""
        return math.prod(values[letter] for letter in self.letters) + self.more


Call = tuple[tuple[Any, ...], dict[str, Any]]
Calls = Iterator[Call]


def call(*args: Any, **kwargs: Any) -> Call:
    """Arguments."""
    return args, kwargs


ALONE = (
    *(T(""), T("1"), T("a"), T("ab", order="10"), T("a3b", order="102"), T("a3b", order="210")),
    *(T("a0b"), T("a3bc"), T("a3bc", order="0231"), T("a3bc", order="0213"), T("1a", order="10")),
    *(T("a1b", order="201"), T("a3b2c", order="02341"), T("ab", step=2), T("ab", spread="0")),
    *(T("a3b", spread="1"), T("a3b", order="102", spread="2"), T("ab", order="10", step=2)),
    *(T("12", step=3), T("a1"), T("a1", order="10"), T("23", order="10"), T("0")),
)
PAIRS = (
    *((T("ab"), T("ab", order="10")), (T("ab", order="10"), T("ab", order="10"))),
    *((T("ab", order="10"), T("b")), (T("b"), T("ab", order="10")), (T("a1"), T("1b"))),
    *((T("a3bc", order="0231"), T("3bc", order="120")), (T("a3bc", order="0231"), T("311"))),
    *((T("a3bc", order="0231"), T("a3bc")), (T("a3bc"), T("a3bc", order="0231"))),
    *((T("ab", spread="0"), T("ab")), (T("ab", step=2), T("ab")), (T("ab", step=2), T(""))),
    *((T("a3b", order="102"), T("a1b")), (T("a3b", order="210"), T("31", order="10"))),
    *((T("a0"), T("a1")), (T("0"), T("1")), (T("0"), T("")), (T("a1", order="10"), T("1b"))),
    *((T("ab", spread="1"), T("ab", spread="1")), (T("1a", order="10"), T("1a"))),
    *((T("23"), T("32")), (T("ab"), T("2b")), (T("12", step=3), T("12"))),
)


def typed(tensor: T, dtype: torch.dtype) -> T:
    return replace(tensor, dtype=dtype)
