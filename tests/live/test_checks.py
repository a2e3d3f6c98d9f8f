"""Checks of data in Python: the model goes on, as a program does that raises nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import sardonyx

from . import checking

Function = Callable[[torch.Tensor], torch.Tensor]

X = torch.rand(2, 4)


@pytest.mark.parametrize("capture", ["quick", "torch"])
@pytest.mark.parametrize("function", checking.CHECKING, ids=lambda function: function.__name__)
def test_a_check_is_passed_and_told(function: Function, capture: Any) -> None:
    program = sardonyx.export(function, (X,), dynamic_shapes=({0: "rows"},), capture=capture)
    other = torch.rand(5, 4)
    torch.testing.assert_close(program(other)[0], function(other))
    assert {note.code for note in program.notes} == {"SX1017"}
    told = [(note.function, note.file) for note in program.notes]
    assert set(told) == {(function.__name__, checking.__file__)}
    assert program.node_count == 1


@pytest.mark.parametrize("function", checking.BRANCHING, ids=lambda function: function.__name__)
def test_what_may_go_another_way_is_no_check(function: Function) -> None:
    with pytest.raises(sardonyx.CaptureError, match="quick capture declines"):
        sardonyx.export(function, (X,), dynamic_shapes=({0: "rows"},), capture="quick")


def test_other_branches_are_refused_as_before() -> None:
    def both(x: torch.Tensor) -> torch.Tensor:
        return checking.goes_another_way(checking.asserts(x))

    with pytest.raises(sardonyx.CaptureError, match="goes_another_way") as caught:
        sardonyx.export(both, (X,))
    assert "torch_versions" not in str(caught.value)
