"""Slices of two where a free size may be 1, which PyTorch's capture takes for 2 and more."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx
from sardonyx._torch_private import export as torch_export


class LastTwo(nn.Module):
    """The mean of the last two steps, as code that divides by a length has it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        last = x[:, -2:]
        return last.sum(1) / last.shape[1]


@pytest.mark.parametrize("dim", [Dim("n", min=1, max=9), Dim("n"), Dim.DYNAMIC, Dim.AUTO])
@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_one_step_has_the_mean_of_one(dim: Any, capture: str) -> None:
    made = sardonyx.export(
        LastTwo(), (torch.rand(3, 5),), dynamic_shapes=({1: dim},), capture=capture
    )
    for steps in (5, 3, 2, 1):
        x = torch.rand(3, steps)
        torch.testing.assert_close(made(x)[0], LastTwo()(x))


def test_a_size_of_two_and_more_is_captured_as_it_is() -> None:
    made = sardonyx.export(
        LastTwo(), (torch.rand(3, 5),), dynamic_shapes=({1: Dim("n", min=2)},), capture="quick"
    )
    assert [y.shape for y in made(torch.rand(3, 4))] == [(3,)]


def test_where_no_capture_holds_for_one_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def failing() -> Iterator[None]:
        raise RuntimeError("this one fails")
        yield

    monkeypatch.setattr(torch_export, "sizes_one_stay_dynamic", failing)
    made = sardonyx.export(
        LastTwo(), (torch.rand(3, 5),), dynamic_shapes=({1: Dim.DYNAMIC},), capture="torch"
    )
    x = torch.rand(3, 4)
    torch.testing.assert_close(made(x)[0], LastTwo()(x))
    (note,) = made.notes
    assert note.code == "SX1015"
    assert "assumes at least 2" in note.message


class LastOfParts(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.split(2, -1)[-1][..., ::2]


def test_what_has_no_elements_to_slice_at_one_is_left_alone() -> None:
    made = sardonyx.export(LastOfParts(), (torch.arange(5),), dynamic_shapes=({0: Dim.AUTO},))
    for size in (5, 6):
        torch.testing.assert_close(made(torch.arange(size))[0], LastOfParts()(torch.arange(size)))


def test_a_size_that_is_divided_by_another_which_is_0_where_that_is_1() -> None:
    """Nothing is said of the size 1 then: the program does not run at it."""

    class Rows(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            rows = x.view(-1, 3)
            counted = torch.count_nonzero(rows, -2)
            return torch.slice_scatter(counted, counted[1:], 0, 1) + nn.functional.normalize(rows)

    dims = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC, 2: Dim.DYNAMIC}
    program = sardonyx.export(Rows(), (torch.rand(4, 6, 6),), dynamic_shapes=(dims,))
    for sizes in ((2, 3, 5), (5, 2, 6), (3, 1, 1)):
        x = torch.rand(sizes)
        torch.testing.assert_close(program(x)[0], Rows()(x))


class LengthOfDiagonal(nn.Module):
    def __init__(self, offset: int, operator: Any) -> None:
        super().__init__()
        self.offset = offset
        self.operator = operator

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        diagonal = self.operator(x, self.offset)
        return torch.full((2,), diagonal.shape[0]), diagonal


@pytest.mark.parametrize("operator", [torch.diagonal, torch.diag])
@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 2])
@pytest.mark.parametrize("columns", [1, 3, "m"])
def test_the_length_of_a_diagonal(operator: Any, offset: int, columns: Any) -> None:
    model = LengthOfDiagonal(offset, operator)
    dims = {0: "n"} | ({1: "m"} if columns == "m" else {})
    width = 3 if columns == "m" else columns
    made = sardonyx.export(model, (torch.rand(4, width),), dynamic_shapes=(dims,))
    assert not made.notes
    for rows in range(5):
        for wide in range(4) if columns == "m" else (columns,):
            x = torch.rand(rows, wide)
            torch.testing.assert_close(made(x), model(x), msg=f"[{rows}, {wide}]")


def test_a_diagonal_that_has_its_length_anyhow_is_captured_as_it_is() -> None:
    model = LengthOfDiagonal(0, torch.diagonal)
    shapes = ({0: Dim("n", min=1)},)
    made = sardonyx.export(model, (torch.rand(4, 1),), dynamic_shapes=shapes, capture="quick")
    assert [y.tolist() for y in made(torch.ones(2, 1))] == [[1, 1], [1.0]]


@pytest.mark.parametrize("sections", [1, 2, 3, 5])
@pytest.mark.parametrize("capture", ["auto", "quick"])
def test_the_lengths_of_unequal_parts(sections: int, capture: Any) -> None:
    class Lengths(nn.Module):
        def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
            parts = x.tensor_split(sections, 1)
            return [torch.full((2,), part.shape[1]) for part in parts] + [p * 1 for p in parts]

    dims = ({1: Dim.DYNAMIC},)
    made = sardonyx.export(Lengths(), (torch.rand(2, 4),), dynamic_shapes=dims, capture=capture)
    assert not made.notes
    for size in range(12):
        x = torch.rand(2, size)
        torch.testing.assert_close(list(made(x)), Lengths()(x))


@pytest.mark.parametrize("places", [(-2,), (-3, -1)])
def test_parts_that_end_before_the_start_are_warned_of(places: tuple[int, ...]) -> None:
    """PyTorch's captures have no other lengths for them."""

    class Lengths(nn.Module):
        def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
            return [torch.full((2,), part.shape[0]) for part in x.tensor_split(places)]

    with pytest.warns(sardonyx.errors.SpecializationWarning, match="at least"):
        made = sardonyx.export(Lengths(), (torch.rand(6),), dynamic_shapes=({0: Dim.DYNAMIC},))
    for size in range(3, 9):
        x = torch.rand(size)
        torch.testing.assert_close(list(made(x)), Lengths()(x))


FACTORS = {
    "qr": torch.linalg.qr,
    "svd": lambda x: torch.linalg.svd(x, full_matrices=False),
    "svdvals": lambda x: (torch.linalg.svdvals(x),),
    "lu_factor": torch.linalg.lu_factor,
    "differences": lambda x: (torch.diff(x, n=2, dim=0),),
    "trapezoid": lambda x: (torch.cumulative_trapezoid(x, dim=0),),
}


@pytest.mark.parametrize("name", FACTORS)
def test_the_sizes_of_factors(name: str) -> None:
    class Sizes(nn.Module):
        def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
            return [torch.full((2,), n) for part in FACTORS[name](x) for n in part.shape]

    made = sardonyx.export(Sizes(), (torch.rand(4, 1),), dynamic_shapes=({0: Dim("n")},))
    for rows in range(5):
        x = torch.rand(rows, 1)
        torch.testing.assert_close(list(made(x)), Sizes()(x))


def test_a_slice_of_a_multiple() -> None:
    class After(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.full((2,), x.view(-1, 2)[1:].shape[0])

    made = sardonyx.export(After(), (torch.rand(8),), dynamic_shapes=({0: 2 * Dim("pairs")},))
    for pairs in range(4):
        x = torch.rand(2 * pairs)
        torch.testing.assert_close(made(x)[0], After()(x))
