"""Where PyTorch's or sympy's own code fails on sizes after a capture, a diagnostic reports it."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
import torch
from torch.export import Dim
from torch.utils._sympy.functions import Mod

import sardonyx
from sardonyx._capture import capture

SHAPES = ({0: Dim("n")},)


def asserts(*_: Any) -> Any:
    """PyTorch's remainder asserts that its operands are positive."""
    return Mod(sympy.Integer(-3), sympy.Integer(2))


def nests(*_: Any) -> Any:
    raise RecursionError("maximum recursion depth exceeded")


def asserts_itself(*_: Any) -> Any:
    raise AssertionError("ours")


@pytest.mark.parametrize(
    ("fault", "message"),
    [(asserts, "an assertion of PyTorch fails"), (nests, "nested too deeply for PyTorch")],
)
def test_a_fault_is_a_diagnostic(monkeypatch: pytest.MonkeyPatch, fault: Any, message: str) -> None:
    monkeypatch.setattr(capture, "equal_dims", fault)
    with pytest.raises(sardonyx.errors.CaptureError, match=message) as caught:
        sardonyx.export(torch.nn.ReLU(), (torch.rand(3),), dynamic_shapes=SHAPES)
    assert [each.code for each in caught.value.diagnostics] == ["SX1003"]
    assert isinstance(caught.value.__cause__, (AssertionError, RecursionError))


def test_a_fault_of_ours_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "equal_dims", asserts_itself)
    with pytest.raises(AssertionError, match="ours"):
        sardonyx.export(torch.nn.ReLU(), (torch.rand(3),), dynamic_shapes=SHAPES)
