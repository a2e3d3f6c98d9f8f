"""Python's integers of sizes, and sizes in their place."""

from __future__ import annotations

import functools
import numbers
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._capture.patches.symbolic_int_calls import whole_sizes
from sardonyx.hf.base.parts import Part
from sardonyx.hf.conversion.graphs import ExportTarget, captured

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="instructions say what is called since Python 3.11"
)


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def _longer(length: Any, factors: tuple[float, ...]) -> int:
    # In 3.11 a comprehension is a function of its own.
    return sum([int(length * factor) for factor in factors])


class Longer(torch.nn.Module):
    @_wrapped
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = _longer(x.shape[1], (1.5, 0.5)) + int("1") + int(2.9)
        kind = int if isinstance(count, int) else torch.int64
        return torch.zeros(count, dtype=kind) + x.sum().to(kind)


def _free(model: torch.nn.Module) -> sardonyx.ONNXProgram:
    return sardonyx.export(model, (torch.ones(2, 8),), dynamic_shapes=({1: Dim("length", min=2)},))


def test_sizes_stay_sizes() -> None:
    code = _longer.__code__
    with whole_sizes(Longer()):
        assert _longer.__code__ is not code
        program = _free(Longer())
    assert _longer.__code__ is code
    assert "__sardonyx_int__" not in globals()
    assert not program.notes
    for length in (5, 8, 13):
        x = torch.ones(2, length)
        torch.testing.assert_close(program(x)[0], Longer()(x))


def test_an_export_does_so_by_itself() -> None:
    program = _free(Longer())
    assert not program.notes
    for length in (5, 8, 13):
        x = torch.ones(2, length)
        torch.testing.assert_close(program(x)[0], Longer()(x))


class OfInputs(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.model = Longer()

    def forward(self, inputs: dict[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        return (self.model(inputs["x"]),)


@pytest.mark.parametrize("length", [5, 13])
def test_checkpoints_are_captured_with_sizes(length: int) -> None:
    part = Part("model", OfInputs(), {"x": torch.ones(2, 8)}, {"x": {1: "length"}}, ("y",))
    _, program, notes = captured(part, ExportTarget())
    assert not notes
    x = torch.ones(2, length)
    torch.testing.assert_close(torch.as_tensor(program(x)[0]), Longer()(x))


def _doubled(size: Any) -> int:
    if isinstance(size, (tuple, list)):
        return int(size[0])
    if isinstance(size, int) and not isinstance(size, (str, bool)):
        return size * 2
    return 1


class Asks(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if isinstance(x.shape[1] / 2, float) and isinstance(x.shape[1], numbers.Number):
            x = x + 1
        return x * _doubled(x.shape[1])


def test_sizes_are_instances_of_int() -> None:
    program = _free(Asks())
    assert not program.notes
    for length in (5, 8, 13):
        x = torch.rand(2, length)
        torch.testing.assert_close(program(x)[0], Asks()(x))
