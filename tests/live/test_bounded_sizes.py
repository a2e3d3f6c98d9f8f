"""Dynamic dimensions that a branch of the model bounds."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn.functional import scaled_dot_product_attention as attention

import sardonyx
from sardonyx._base.errors import CaptureError, SpecializationWarning


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.shape[0] > 4 else x - 1


class Free(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1, 2)


def bounds(model: nn.Module, rows: int, dim: Any, capture: str) -> list[str]:
    program = sardonyx.export(
        model, (torch.ones(rows, 4),), dynamic_shapes=({0: dim},), capture=capture
    )
    return [
        note.message.split("whether it is ")[1].split(":")[0]
        for note in program.notes
        if note.code == "SX1015"
    ]


@pytest.mark.parametrize("dim", ["rows", Dim.AUTO])
def test_a_branch_on_a_free_size_is_warned_of(dim: Any) -> None:
    with pytest.warns(SpecializationWarning, match="at least 5"):
        assert bounds(Branches(), 6, dim, "torch") == ["at least 5"]
    with pytest.warns(SpecializationWarning, match="at most 4"):
        assert bounds(Branches(), 3, dim, "torch") == ["at most 4"]


@pytest.mark.parametrize("dim", [Dim("rows"), Dim.DYNAMIC])
def test_a_branch_on_a_size_that_must_vary_is_an_error(dim: Any) -> None:
    with pytest.raises(CaptureError, match="at least 5") as caught:
        bounds(Branches(), 6, dim, "torch")
    assert [each.code for each in caught.value.diagnostics] == ["SX1015"]


@pytest.mark.parametrize("dim", ["rows", Dim("rows"), Dim.DYNAMIC, Dim.AUTO])
def test_both_sides_of_a_branch_on_a_free_size_are_in_the_model(dim: Any) -> None:
    assert bounds(Branches(), 6, dim, "auto") == []
    assert bounds(Branches(), 3, dim, "auto") == []


def test_what_is_warned_of_is_where_the_program_is_looked_at() -> None:
    with pytest.warns(SpecializationWarning):
        program = sardonyx.export(
            Branches(), (torch.ones(6, 4),), dynamic_shapes=({0: "rows"},), capture="torch"
        )
    assert str(program).startswith("# warning[SX1015]: dimension 0 of input 'x'")
    assert repr(program).endswith("1 warning)")
    assert "warning[SX1015]" in program._repr_html_()


@pytest.mark.parametrize("capture", ["torch", "auto"])
def test_bounds_that_the_user_said_are_not(capture: str) -> None:
    assert bounds(Branches(), 6, Dim("rows", min=5), capture) == []
    assert bounds(Branches(), 3, Dim("rows", max=4), capture) == []


@pytest.mark.parametrize("capture", ["torch", "auto"])
@pytest.mark.parametrize("dim", ["rows", Dim("rows"), Dim("rows", min=2, max=9), Dim.AUTO])
def test_sizes_that_stay_free_are_not(dim: Any, capture: str) -> None:
    assert bounds(Free(), 3, dim, capture) == []


# --- what no range can say


class Windows(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if (x.shape[0] + y.shape[0] + 63) // 64 == 1:
            return x * 2
        return x


class Padded(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        pad = (8 - x.shape[0] % 8) % 8
        return nn.functional.pad(x, (0, 0, 0, pad)) if pad > 0 else x + y.sum()


class Seven(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x if x.shape[0] == 7 else x * 2 + y.sum()


class Area(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for _ in range(2 if x.shape[0] * y.shape[0] > 20 else 1):
            x = x * 2
        return x


class Checks(nn.Module):
    """Other sizes are errors, of which the model need not know."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[0] + y.shape[0] > 4000:
            raise ValueError("too long")
        assert x.shape[0] * y.shape[0] < 1_000_000, "too large"
        return x * 2 + y.sum()


class Caught(nn.Module):
    """Here other sizes are no errors."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        try:
            return Checks().forward(x, y)
        except AssertionError:
            return x - y.sum()


def asked(model: nn.Module, shapes: Any, capture: str) -> list[tuple[str, int]]:
    program = sardonyx.export(
        model, (torch.ones(6, 4), torch.ones(5, 4)), dynamic_shapes=shapes, capture=capture
    )
    return [
        (note.message.split("whether ")[1].split(", at ")[0], note.line)
        for note in program.notes
        if note.code == "SX1015" and "asks of dynamic sizes" in note.message
    ]


_FREE = ({0: "rows"}, {0: Dim.AUTO})


@pytest.mark.parametrize(
    ("model", "relation"),
    [
        (Windows, "((rows + y.shape[0] + 63)//64) == 1"),
        (Padded, "(Mod(8 - (Mod(rows, 8)), 8)) > 0"),
        (Seven, "rows != 7"),
        (Area, "rows*y.shape[0] > 20"),
    ],
)
def test_what_no_range_can_say_is_told(model: Any, relation: str) -> None:
    line = inspect.getsourcelines(model.forward)[1]
    (said, place), *others = asked(model(), _FREE, "torch")
    assert said == relation
    assert line < place <= line + 3
    assert not others
    assert not asked(model(), _FREE, "auto")  # both sides are in the model


@pytest.mark.parametrize("capture", ["torch", "auto"])
def test_what_is_so_of_all_sizes_is_not_told(capture: str) -> None:
    few = ({0: Dim("rows", min=6, max=9)}, {0: Dim("more", min=4, max=8)})
    assert asked(Area(), few, capture) == []
    assert asked(Windows(), few, capture) == []
    assert asked(Checks(), _FREE, capture) == []


@pytest.mark.parametrize("capture", ["torch", "auto"])
def test_an_error_that_the_model_catches_is_a_branch(capture: str) -> None:
    assert asked(Checks(), _FREE, capture) == []
    told = asked(Caught(), _FREE, capture)
    if capture == "auto":
        assert not told  # both sides are in the model
        return
    ((said, line),) = told
    assert said == "rows*y.shape[0] < 1000000"
    assert line == inspect.getsourcelines(Checks.forward)[1] + 3


class Causal(nn.Module):
    def __init__(self, least: int = 1) -> None:
        super().__init__()
        self.least = least

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return attention(x, x, x, is_causal=x.shape[1] > self.least)


@pytest.mark.parametrize("capture", ["torch", "auto"])
def test_a_truth_of_sizes_that_pytorch_wants_as_a_bool_is_a_branch_or_told(capture: str) -> None:
    x = torch.randn(2, 5, 4)
    program = sardonyx.export(
        Causal(3), (x,), dynamic_shapes=({1: "rows"},), capture=capture, verbose=False
    )
    told = [note.message for note in program.notes if note.code == "SX1015"]
    assert ["at least 4" in message for message in told] == [True] * (capture == "torch")
    for rows in (5, 4, 7) if capture == "torch" else (5, 1, 2, 3, 4, 7):
        x = torch.randn(2, rows, 4)
        torch.testing.assert_close(program(x)[0], Causal(3)(x))


@pytest.mark.parametrize("capture", ["torch", "auto"])
def test_whether_one_row_is_causal_is_no_question(capture: str) -> None:
    program = sardonyx.export(
        Causal(), (torch.randn(2, 5, 4),), dynamic_shapes=({1: "rows"},), capture=capture
    )
    assert not program.notes
    assert "If" not in {node.op_type for node in program.model_proto.graph.node}
    for rows in (5, 1, 2, 7):
        x = torch.randn(2, rows, 4)
        torch.testing.assert_close(program(x)[0], Causal()(x))


class FewApart(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.numel() == 0:
            return x + 1
        if x.shape[0] == 1:
            return x * 2
        assert x.shape[0] != 1  # which is no branch
        return x - 1


@pytest.mark.parametrize(
    ("dim", "told"),
    [
        ("rows", ["4*rows != 0", "rows != 1"]),
        (Dim("rows", min=1), ["rows != 1"]),
        (Dim("rows", min=2), []),
        (Dim.STATIC, []),
    ],
)
def test_branches_for_sizes_of_0_and_1_are_told(dim: Any, told: list[str]) -> None:
    # torch.export takes every free size for at least 2.
    inputs, shapes = (torch.ones(3, 4),), ({0: dim},)
    program = sardonyx.export(FewApart(), inputs, dynamic_shapes=shapes, capture="torch")
    said = [n.message.split("whether ")[1].split(", at")[0] for n in program.notes]
    assert said == told
    program = sardonyx.export(FewApart(), inputs, dynamic_shapes=shapes)
    assert {note.code for note in program.notes} == ({"SX1018"} if told else set())
    least = 3 if dim is Dim.STATIC else getattr(dim, "min", 0)
    for rows in (3,) if dim is Dim.STATIC else (each for each in (0, 1, 2, 7) if each >= least):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(program(x)[0], FewApart()(x))


class Shared(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x if y.shape[0] % x.shape[0] == 0 else -x


def test_a_question_that_has_no_answer_for_0_is_no_error() -> None:
    inputs = (torch.ones(2, 4), torch.ones(4, 4))
    shapes = ({0: "a"}, {0: "b"})
    program = sardonyx.export(Shared(), inputs, dynamic_shapes=shapes, capture="torch")
    assert [note.code for note in program.notes] == ["SX1015"]
    program = sardonyx.export(Shared(), inputs, dynamic_shapes=shapes)
    assert [note.code for note in program.notes] == ["SX1018"]


class Joined(nn.Module):
    """Asks of a size what only counts where there is no `mask`."""

    def __init__(self, mask: object) -> None:
        super().__init__()
        self.by_and = mask is not None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = x if self.by_and else None
        if x.shape[0] > 1 and mask is None:
            x = x * 2
        if x.shape[0] == 1 and not torch.compiler.is_compiling():
            x = x + 1
        return torch.relu(x) if (mask is not None or x.shape[0] != 1) else x


@pytest.mark.parametrize(("capture", "code"), [("torch", "SX1015"), ("auto", "SX1018")])
@pytest.mark.parametrize("mask", [None, 1])
def test_a_question_whose_answer_changes_nothing_is_not_told(
    capture: str, code: str, mask: object
) -> None:
    program = sardonyx.export(
        Joined(mask), (torch.randn(3, 2),), dynamic_shapes=({0: "rows"},), capture=capture
    )
    line = inspect.getsourcelines(Joined.forward)[1]
    told = sorted(note.line for note in program.notes if note.code == code)
    assert told == ([line + 2, line + 6] if mask is None else [])


class Length(nn.Module):
    """Asks for a length as caches do, and for one that is another where there are no rows."""

    def __init__(self) -> None:
        super().__init__()
        self.held: torch.Tensor | None = None

    def forward(self, x: torch.Tensor, empty: bool = False) -> torch.Tensor:
        self.held = x
        length = self.count() + (self.count_or_one() if empty else 0)
        self.held = None
        return x + length

    def count(self) -> int:
        if self.held is None or self.held.numel() == 0:
            return 0
        return self.held.shape[0]

    def count_or_one(self) -> int:
        if self.held is None or self.held.shape[0] == 0:
            return 1
        return self.held.shape[0]


def test_an_empty_cache_that_has_the_same_length_either_way_is_not_told() -> None:
    shapes = {"x": {0: "rows"}, "empty": None}
    for empty in (False, True):
        program = sardonyx.export(
            Length(), (torch.randn(3, 2), empty), dynamic_shapes=shapes, capture="torch"
        )
        told = [note.function for note in program.notes if note.code == "SX1015"]
        assert told == (["count_or_one"] if empty else [])


class Beside(nn.Module):
    """Asks twice in one line; what decides the first says nothing of the second."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flag = torch.is_tensor(x)
        first, second = (x.shape[0] > 1 and not flag, x.shape[0] > 1 and flag) if flag else (0, 0)
        one, other = (flag or x is None), (x.shape[0] == 1 and flag)
        return x * 2 if second and not first and one and not other else x


def test_a_question_is_told_beside_one_that_changes_nothing() -> None:
    program = sardonyx.export(
        Beside(), (torch.randn(3, 2),), dynamic_shapes=({0: "rows"},), capture="torch"
    )
    line = inspect.getsourcelines(Beside.forward)[1]
    told = [note.line for note in program.notes if note.code == "SX1015"]
    assert told == [line + 2, line + 3, line + 4]
