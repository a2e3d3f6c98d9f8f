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
    program = sardonyx.export(function, (X,), dynamic_shapes=({0: "rows"},), capture="quick")
    for x in (torch.rand(5, 4), torch.rand(3, 4) - 0.5):
        torch.testing.assert_close(program(x)[0], function(x))
    assert {note.code for note in program.notes} == {"SX1018"}


def test_what_only_raises_is_found_by_running_it() -> None:
    function = checking.takes_the_truth_for_another
    program = sardonyx.export(function, (X,), dynamic_shapes=({0: "rows"},), capture="quick")
    assert [note.code for note in program.notes] == ["SX1017"]
    torch.testing.assert_close(program(X)[0], X)


def test_torch_export_refuses_other_branches() -> None:
    def both(x: torch.Tensor) -> torch.Tensor:
        return checking.goes_another_way(checking.asserts(x))

    with pytest.raises(sardonyx.CaptureError, match="goes_another_way") as caught:
        sardonyx.export(both, (X,), capture="torch")
    assert "_torch_private" not in str(caught.value)


@pytest.mark.parametrize("capture", ["quick", "torch"])
def test_lists_of_sizes_and_data_are_compared_element_by_element(capture: Any) -> None:
    program = sardonyx.export(
        checking.compares_lists, (X, torch.tensor(2)), dynamic_shapes=({0: "rows"}, None),
        capture=capture,
    )  # fmt: skip
    assert [note.code for note in program.notes] == ["SX1017"]
    other = torch.rand(5, 4)
    torch.testing.assert_close(program(other, torch.tensor(5))[0], other + 1)
