"""Writes that no pure call can express are refused, with the line of the view and of the write."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import sardonyx
from tests.harness import capture, export

from .programs import module_of


def refused(run: Any, *example: Tensor) -> Any:
    module = run if isinstance(run, torch.nn.Module) else module_of(run, len(example))
    captured = capture(module, example)
    with pytest.raises(sardonyx.ConversionError) as caught:
        export(captured)
    return caught.value.diagnostics


def line_of(function: Any, text: str) -> int:
    """The line of this file where `text` stands in `function`."""
    import inspect

    lines, start = inspect.getsourcelines(function)
    return start + next(i for i, line in enumerate(lines) if text in line)


class Windows(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        base = x.clone()
        windows = base.unfold(0, 3, 1)
        windows.add_(1)
        return base


def test_windows_that_overlap() -> None:
    # The capture knows the lines of forward() alone, so the program stands there.
    (diagnostic,) = refused(Windows(), torch.zeros(6))
    assert diagnostic.code == "SX1702"
    assert diagnostic.line == line_of(Windows.forward, "add_(1)")
    assert f":{line_of(Windows.forward, 'unfold')}" in diagnostic.message


def test_every_refusal_is_reported() -> None:
    def run(x: Tensor) -> Tensor:
        first, second = x.clone(), x.clone()
        first.unfold(0, 3, 1).add_(1)
        second.unfold(0, 2, 1).mul_(2)
        return first + second

    diagnostics = refused(run, torch.ones(6))
    assert [each.code for each in diagnostics] == ["SX1702", "SX1702"]
    assert [each.op for each in diagnostics] == ["aten::add_.Tensor", "aten::mul_.Tensor"]


def test_what_nothing_reads_is_not_refused() -> None:
    def run(x: Tensor) -> Tensor:
        base = x.clone()
        base.unfold(0, 3, 1).add_(1)
        return x + 1

    export(capture(module_of(run, 1), (torch.zeros(6),)))


def test_another_size_in_place() -> None:
    def run(x: Tensor) -> Tensor:
        return x.clone().resize_(8)

    (diagnostic,) = refused(run, torch.zeros(6))
    assert diagnostic.code == "SX1705"


class Replaces(torch.nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        before = x + 1
        x.set_(y)
        return x.sum() * before


@pytest.mark.parametrize("kind", ["eager", "script"])
def test_an_input_that_is_another_tensor_from_then_on(kind: str) -> None:
    model = Replaces() if kind == "eager" else torch.jit.script(Replaces())
    x, y = torch.ones(2, 3), torch.randn(4, 6)
    with pytest.warns(UserWarning, match="memory of the input 'x' is replaced"):
        program = sardonyx.export(
            model, (x.clone(), y), dynamo=False, dynamic_axes={"x": [0], "y": [0]}
        )
    x, y = torch.rand(5, 3), torch.randn(7, 6)
    result = program(x, y)
    torch.testing.assert_close(result[0], model(x.clone(), y))
    assert len(result) == 1


def test_an_input_that_is_a_part_of_another_tensor_from_then_on() -> None:
    def run(x: Tensor, y: Tensor) -> Tensor:
        x.set_(y[0])
        return x + 1

    (diagnostic,) = refused(run, torch.ones(6), torch.ones(2, 6))
    assert diagnostic.code == "SX1705"
