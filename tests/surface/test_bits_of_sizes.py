"""Bits of sizes: arithmetic in every capture, of programs that torch.export made, too."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx
from sardonyx._compare.tensors import difference

X = torch.arange(5.0)
SIZES = (0, 1, 2, 3, 6, 7, 12, 33)


class Bits(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        n = x.shape[0]
        return x[: n & 3], x + (n | 5), torch.zeros(n ^ 1), x * (10 & -n), x[(n << 1) >> 2 :]


class ByTorch(nn.Module):
    """With the operators that torch.export keeps."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        n = x.shape[0]
        return torch.zeros(n & 6), x + (n | 5), x * (10 & -n), x[(n << 1) >> 2 :]


class Inverted(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[~x.shape[0] + 4 :] * (~x.shape[0] & -3)


class OfTwo(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + (x.shape[0] & x.shape[1])


def check(made: Any, model: nn.Module) -> None:
    for size in SIZES:
        x = torch.arange(float(size))
        wanted = model(x)
        expected = wanted if isinstance(wanted, tuple) else (wanted,)
        for got, want in zip(made(x), expected, strict=True):
            assert difference(got, want) is None, size


@pytest.mark.parametrize("model", [Bits(), Inverted()])
@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_bits_of_a_size_and_a_number(model: nn.Module, capture: Any) -> None:
    shapes = ({0: Dim("n", min=0)},)
    check(sardonyx.export(model, (X,), dynamic_shapes=shapes, capture=capture), model)


def test_bits_in_programs_of_torch_export() -> None:
    program = torch.export.export(ByTorch(), (X,), dynamic_shapes=({0: Dim.AUTO(min=0)},))
    check(sardonyx.export(program), ByTorch())


@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_bits_of_two_sizes_are_an_error_with_their_line(capture: Any) -> None:
    shapes = ({0: Dim("n"), 1: Dim("m")},)
    with pytest.raises(sardonyx.errors.CaptureError, match="bits of two dynamic sizes") as caught:
        sardonyx.export(OfTwo(), (torch.ones(5, 3),), dynamic_shapes=shapes, capture=capture)
    assert "test_bits_of_sizes.py, line 4" in str(caught.value)


def test_bits_of_two_sizes_in_programs_of_torch_export_are_unsupported() -> None:
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},)
    program = torch.export.export(OfTwo(), (torch.ones(5, 3),), dynamic_shapes=shapes)
    with pytest.raises(sardonyx.errors.ConversionError, match="no expression") as caught:
        sardonyx.export(program)
    assert {each.code for each in caught.value.diagnostics} == {"SX1301"}
