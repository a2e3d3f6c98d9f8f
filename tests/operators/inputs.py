"""Inputs of the cases: deterministic, small, and not so regular that mistakes cancel out."""

from __future__ import annotations

from typing import Any

import torch

NAN = float("nan")
INF = float("inf")


def floats(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype)


def positive(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 2) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(shape, generator=generator) * 2 + 0.1).to(dtype)


def ints(
    *shape: int, low: int = -7, high: int = 8, dtype: torch.dtype = torch.int64, seed: int = 3
) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, shape, generator=generator).to(dtype)


def bools(*shape: int, seed: int = 4) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(shape, generator=generator) > 0.5


def complexes(*shape: int, seed: int = 5) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.complex64)


def of(*values: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.tensor(list(values), dtype=dtype)


def scalar(value: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.tensor(value, dtype=dtype)


def specials(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """What floating point has besides ordinary numbers."""
    values = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-6, 100.0]
    return torch.tensor(values, dtype=dtype)


def pairs_of_specials(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    """Every special value against every other, as a column and a row."""
    values = specials(dtype)
    return values.unsqueeze(1), values.unsqueeze(0)


def extremes(dtype: torch.dtype) -> torch.Tensor:
    """An integer type's ends and what lies round zero."""
    limits = torch.iinfo(dtype)
    values = [limits.min, limits.min + 1, 0, 1, 2, 3, 7, limits.max - 1, limits.max]
    if limits.min < 0:
        values += [-1, -2, -3, -7]
    return torch.tensor(values, dtype=dtype)
