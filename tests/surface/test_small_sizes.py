"""Sizes of 0 and 1: right whatever a dimension was declared as, though captures take the sizes of
Dim.AUTO, Dim.DYNAMIC and plain names for 2 or more."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import sardonyx
from sardonyx._compare.tensors import difference

X = torch.randn(5, 3)
SIZES = (0, 1, 2, 3, 7)
DIMS: dict[str, Any] = {
    "a name": "n",
    "Dim.AUTO": Dim.AUTO,
    "Dim.AUTO from 0": Dim.AUTO(min=0),
    "Dim.DYNAMIC": Dim.DYNAMIC,
    "Dim": Dim("n"),
}


class AllButOne(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[: max(x.shape[0] - 1, 1)] * 2


class ByCondition(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[0]
        few: torch.Tensor = torch.cond(n < 2, lambda x: x + 1, lambda x: x - 1, (x,))
        one: torch.Tensor = torch.cond(n == 1, lambda x: x * 2, lambda x: x * 3, (few,))
        return one.sum(0) + n


class OfTwo(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(0) / max(x.shape[0], 2) + min(x.shape[0], 2)


MODELS = [AllButOne, ByCondition, OfTwo]


def wrong(made: Any, model: nn.Module) -> list[tuple[int, str]]:
    """The sizes at which the model differs from PyTorch, and how."""
    found = []
    for size in SIZES:
        x = torch.randn(size, 3)
        differs = difference(made(x)[0], model(x))
        if differs is not None:
            found.append((size, differs))
    return found


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("capture", ["quick", "torch"])
@pytest.mark.parametrize("kind", MODELS)
def test_conditions_and_choices_are_right_at_0_and_1(kind: Any, capture: Any, dim: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = sardonyx.export(kind(), (X,), dynamic_shapes=({0: DIMS[dim]},), capture=capture)
    assert wrong(made, kind()) == []


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_captured_programs_are_right_at_0_and_1(kind: Any, saved: bool, tmp_path: Path) -> None:
    """torch.export says of their sizes that they are 2 or more."""
    program: Any = torch.export.export(kind(), (X,), dynamic_shapes=({0: Dim.AUTO},))
    if saved:
        torch.export.save(program, tmp_path / "m.pt2")
    assert wrong(sardonyx.convert(tmp_path / "m.pt2" if saved else program), kind()) == []


class Remainders(nn.Module):
    """PyTorch takes `1 % (n + 1)` for 1, since it takes sizes for positive."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[0]
        found: torch.Tensor = torch.ones(2) * (1 % (n + 1)) + divmod(2, n + 2)[1]
        return found + x.sum()


class Negative(nn.Module):
    """PyTorch takes `-n % -3` for -n."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[0]
        found: torch.Tensor = torch.ones(2) * ((-n - 5) % -3) + n % -4
        return found + x.sum()


@pytest.mark.parametrize("capture", ["quick", "torch"])
@pytest.mark.parametrize("dim", ["Dim.AUTO", "a name", "Dim"])
def test_a_number_that_is_its_own_remainder(dim: str, capture: Any) -> None:
    model = Remainders()
    made = sardonyx.export(model, (X,), dynamic_shapes=({0: DIMS[dim]},), capture=capture)
    assert wrong(made, model) == []
    assert not [note for note in made.notes if note.severity != "note"]


@pytest.mark.parametrize("capture", ["quick", "torch"])
def test_remainders_by_negative_numbers(capture: Any) -> None:
    model = Negative()
    made = sardonyx.export(model, (X,), dynamic_shapes=({0: Dim.AUTO},), capture=capture)
    assert wrong(made, model) == []


class OfUnknownSign(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        n, m = x.shape[0], y.shape[0]
        return x[(1 // m) // (-1 // n) :], x + (n // 2) // (m - n), x * ((m // 2) % (m - n))


@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_quotients_of_quotients_by_sizes_of_unknown_sign(capture: Any) -> None:
    model = OfUnknownSign()
    shapes = ({0: Dim("n", min=0)}, {0: Dim("m", min=0)})
    made = sardonyx.export(model, (X, X[:3]), dynamic_shapes=shapes, capture=capture)
    for n, m in ((1, 2), (2, 1), (2, 3), (3, 2), (7, 2), (2, 7), (33, 1)):
        inputs = torch.randn(n, 3), torch.randn(m, 3)
        for got, want in zip(made(*inputs), model(*inputs), strict=True):
            assert difference(got, want) is None, (n, m)


class Windows(nn.Module):
    """Windows of 8 of an image that was made smaller: one in the example."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        small = nn.functional.avg_pool2d(x, 4)
        small = nn.functional.pad(small, (0, -small.shape[3] % 8, 0, -small.shape[2] % 8))
        batch, channels, height, width = small.shape
        parts = small.view(batch, channels, height // 8, 8, width // 8, 8)
        return parts.permute(0, 2, 4, 3, 5, 1).reshape(-1, 64, channels)


class ByOneLess(nn.Module):
    """1 - n is negative for the sizes that captures take, and 1 where n is 0."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        divisor = 1 - y.shape[0]
        return torch.full((2,), x.shape[0] // divisor) + torch.full((2,), x.shape[0] % divisor)


@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_quotients_by_what_is_negative_for_larger_sizes(capture: Any) -> None:
    model, shapes = ByOneLess(), ({0: Dim.AUTO}, {0: Dim.AUTO})
    made = sardonyx.export(model, (X, X[:3]), dynamic_shapes=shapes, capture=capture)
    for rows in (0, 5, 6, 7):
        for size in (0, 2, 3, 8):
            x, y = torch.ones(rows, 3), torch.ones(size, 3)
            torch.testing.assert_close(made(x, y)[0], model(x, y))


def test_a_quotient_that_an_operator_fixes_is_an_error_where_a_dim_was_asked_for() -> None:
    x = torch.randn(1, 2, 20, 24)
    auto = ({2: Dim.AUTO, 3: Dim.AUTO},)
    with pytest.warns(sardonyx.errors.SpecializationWarning, match=r"//8\) == 1"):
        sardonyx.export(Windows(), (x,), dynamic_shapes=auto, capture="torch")
    asked = ({2: Dim("height"), 3: Dim("width")},)
    with pytest.raises(sardonyx.errors.CaptureError, match=r"//8\) == 1") as caught:
        sardonyx.export(Windows(), (x,), dynamic_shapes=asked, capture="torch")
    assert {each.code for each in caught.value.diagnostics} == {"SX1015"}
    bounded = ({2: Dim("height", min=4), 3: Dim("width", min=4)},)
    made = sardonyx.export(Windows(), (x,), dynamic_shapes=bounded)
    larger = torch.randn(1, 2, 40, 70)
    assert difference(made(larger)[0], Windows()(larger)) is None


class Stepped(nn.Module):
    """What torch.export asserts of its sizes has `max(n, 1)` as n."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        most = max(*x.shape)
        return x[:: max(most, 1)] + 1


def test_a_step_that_a_maximum_keeps_from_0() -> None:
    shapes = ({0: Dim("n", min=0), 1: Dim("m", min=0)},)
    made = sardonyx.export(Stepped(), (torch.randn(5, 4),), dynamic_shapes=shapes, capture="torch")
    for sizes in ((0, 0), (0, 3), (3, 0), (7, 2)):
        x = torch.randn(*sizes)
        assert difference(made(x)[0], Stepped()(x)) is None


def test_what_an_operator_takes_for_the_whole_size_is_warned_of() -> None:
    """The example has 4 columns, for which the view is what it was."""

    class Parts(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.reshape(-1, max(x.shape[1] % 7, 1)) * 2

    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},)
    with pytest.warns(sardonyx.errors.SpecializationWarning, match=r"Mod\(x.shape\[1\], 7\)"):
        sardonyx.export(Parts(), (torch.randn(5, 4),), dynamic_shapes=shapes, capture="torch")


class Broadcast(nn.Module):
    """Rows of the first input, as many as a multiple of the second one's: in the example they are
    as many as the second one has."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        total = y + x[: y.shape[0] * (x.shape[0] // y.shape[0])]
        return total * len(total)


class Clamped(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x[: y.shape[0]] + y) * len(x[: y.shape[0]] + y)


@pytest.mark.parametrize("model", [Broadcast(), Clamped()])
@pytest.mark.parametrize("dim", ["n", Dim.AUTO])
@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_computed_sizes_that_an_operator_takes_for_others_are_warned_of(
    model: nn.Module, dim: Any, capture: Any
) -> None:
    dims = ("n", "m") if dim == "n" else (dim, dim)
    shapes = tuple({0: each} for each in dims)
    with pytest.warns(sardonyx.errors.SpecializationWarning):
        sardonyx.export(model, (X[:, 0], X[:3, 0]), dynamic_shapes=shapes, capture=capture)


def test_a_computed_size_taken_for_another_is_warned_of_where_a_dim_was_asked_for() -> None:
    """PyTorch raises for other sizes, but for few; torch.export refuses the program."""
    shapes = ({0: Dim("n")}, {0: Dim("m")})
    inputs = X[:, 0], X[:3, 0]
    with pytest.warns(sardonyx.errors.SpecializationWarning):
        sardonyx.export(Broadcast(), inputs, dynamic_shapes=shapes)
    with pytest.raises(sardonyx.errors.CaptureError) as caught:
        sardonyx.export(Broadcast(), inputs, dynamic_shapes=shapes, capture="torch")
    assert {each.code for each in caught.value.diagnostics} == {"SX1011"}


def test_images_that_are_halved_and_doubled_are_not_warned_of() -> None:
    class Skips(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down = nn.Conv2d(1, 1, 3, stride=2, padding=1)
            self.up = nn.ConvTranspose2d(1, 1, 2, stride=2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([self.up(self.down(x)), x], 1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sardonyx.export(
            Skips(), (torch.ones(1, 1, 8, 12),), dynamic_shapes=({2: Dim("h"), 3: Dim("w")},)
        )


def test_sizes_that_are_equal_by_an_inputs_size_are_not_warned_of() -> None:
    class Shifted(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x[1:] + y

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sardonyx.export(
            Shifted(), (X, X[1:]), dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}), capture="auto"
        )
    # Of PyTorch's bounds (2.15: at least 3 rows) another warning may tell.
    assert not any("asks of dynamic sizes" in str(each.message) for each in told)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("integral", [torch.trapezoid, torch.cumulative_trapezoid])
def test_integrals_of_no_rows(integral: Any, dim: int) -> None:
    class Integrates(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return integral(x, dim=dim), integral(x, x * 2, dim=dim)

    made = sardonyx.export(Integrates(), (X,), dynamic_shapes=({0: "n"},))
    for size in SIZES:
        x = torch.randn(size, 3)
        for one, other in zip(made(x), Integrates()(x), strict=True):
            assert difference(one, other) is None, size
