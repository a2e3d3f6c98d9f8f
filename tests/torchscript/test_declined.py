"""Scripted programs that fall back to torch.export: no input is specialized without a warning."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import sardonyx

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def _solved(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = x + torch.linalg.lstsq(torch.eye(3), torch.eye(3))[0].sum() + i
    return x


def test_a_number_that_becomes_a_constant_is_warned_of() -> None:
    scripted = torch.jit.script(_solved)
    with pytest.warns(UserWarning, match="input 'n' .* is the constant 2 in the model"):
        program = sardonyx.export(scripted, (torch.ones(3, 4), 2))
    torch.testing.assert_close(program(torch.ones(3, 4))[0], scripted(torch.ones(3, 4), 2))


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        return x * 2


def test_a_function_of_python_that_was_traced_is_refused() -> None:
    traced = torch.jit.trace(lambda x: _Doubled.apply(x) + 1, torch.ones(3))
    with pytest.raises(sardonyx.CaptureError, match=r"autograd\.Function _Doubled"):
        sardonyx.export(traced, (torch.ones(3),))
