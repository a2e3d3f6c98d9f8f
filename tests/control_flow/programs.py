"""A program, its inputs, and the list it joins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tests.mutation.programs import Program, numbers

DYNAMIC = torch.export.Dim.DYNAMIC
ROWS = ({0: DYNAMIC},)
ROWS_OF_FIRST = ({0: DYNAMIC}, None)

__all__ = [
    "DYNAMIC",
    "ROWS",
    "ROWS_OF_FIRST",
    "Program",
    "joins",
    "negative",
    "numbers",
    "positive",
]


def positive(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    return numbers(*shape, dtype=dtype, seed=seed).abs()


def negative(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    return -positive(*shape, dtype=dtype, seed=seed)


def joins(programs: list[Program]) -> Callable[..., Any]:
    """The decorator that adds a function to `programs`."""

    def with_inputs(
        *example: Tensor, others: tuple[tuple[Tensor, ...], ...] = (), dynamic: Any = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(run: Callable[..., Any]) -> Callable[..., Any]:
            programs.append(Program(run.__name__, run, example, others, dynamic))
            return run

        return register

    return with_inputs
