"""The table of programs: what is scripted, and what it is run with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


class Case(NamedTuple):
    """A function or a module. The first arguments are the example of the export; the sizes in which
    the others differ from it are dynamic."""

    program: Any
    runs: tuple[tuple[Any, ...], ...]


CASES: dict[str, Case] = {}


def case(*runs: tuple[Any, ...]) -> Callable[[T], T]:
    """Registers what it decorates under its name; of a class, one made without arguments."""

    def register(program: T) -> T:
        name = program.__name__  # type: ignore[attr-defined]
        assert name not in CASES, name
        torch.manual_seed(0)
        CASES[name] = Case(program() if isinstance(program, type) else program, runs)
        return program

    return register


def grid(rows: int, columns: int = 4, low: float = -2.0) -> Tensor:
    """From `low` to 2, row by row."""
    return torch.linspace(low, 2.0, rows * columns).reshape(rows, columns)


def noise(*sizes: int) -> Tensor:
    """The same numbers each time."""
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(sum(sizes)))


def number(value: float) -> Tensor:
    """A 0-d tensor."""
    return torch.tensor(value)


# Rows of two sizes, and what they come to: most programs take no more.
ROWS = ((grid(2),), (grid(5),), (grid(1),))
SIGNS = ((grid(2, low=-1.0),), (grid(3, low=-9.0),), (grid(1, low=-1.9),))
