"""Which of what sizes are asked is solved, and what is left to be told."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
import torch
from torch._dynamo.source import LocalSource
from torch.export import Dim
from torch.fx.experimental.symbolic_shapes import DimConstraints
from torch.utils._sympy.functions import FloorDiv

import sardonyx
from sardonyx._capture.meta_tracer.symbolic.solving import _is_solvable
from sardonyx._torch_private.sizes import solving_equations_alone

LENGTH = sympy.Symbol("s", integer=True, positive=True)


# As neural codecs have it, of a length that 320 divides: frames of 320 samples, and eighths of
# frames of 40. PyTorch simplifies it no further.
FRAMES = sympy.Eq(-LENGTH / 320 + FloorDiv(LENGTH / 40, 8), 0)


def constraints(*relations: Any) -> DimConstraints:
    made = DimConstraints({LENGTH: [LocalSource("x")]}, {LENGTH: sympy.Integer(960)}, set(), {})
    made._univariate_inequalities[LENGTH] |= set(relations)
    made._symbols_with_equalities.add(LENGTH)
    return made


def test_equations_that_sympy_cannot_solve_are_left_out() -> None:
    with pytest.raises(NotImplementedError):
        DimConstraints.solve(constraints(FRAMES))
    left = constraints(FRAMES)
    with solving_equations_alone(_is_solvable):
        left.solve()
    assert not left._static_results


def test_others_beside_them_are_solved() -> None:
    both = constraints(FRAMES, sympy.Eq(LENGTH, 960))
    with solving_equations_alone(_is_solvable):
        both.solve()
    assert both._static_results == {"L['x'] == 960"}


class Spaces(torch.nn.Module):
    """PyTorch's solver fails on the polynomial in it, but where TorchDynamo captures."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.shape[0]
        return torch.linspace(0, 1, (rows * rows - (rows - 2)) // 4)


def test_what_torch_dynamo_fixes_is_told_with_its_line() -> None:
    with pytest.raises(sardonyx.CaptureError, match=r"== 2, at .*test_solving.py, line \d+, in f"):
        sardonyx.export(
            Spaces(), (torch.randn(3),), dynamic_shapes=({0: Dim.DYNAMIC},), capture="torch"
        )
