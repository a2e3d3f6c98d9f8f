"""Writes that no pure call can express are refused, with the line of the view and of the write."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.harness import capture, export

from .programs import module_of


def refused(run: Any, *example: Tensor) -> Any:
    import sardonyx

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
