"""Bounds that PyTorch raises beyond are notes; those of the model alone are warnings."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import functional

import sardonyx


class Reflected(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.pad(x, (3, 3), mode="reflect")


class Greatest(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.topk(5, 1).values


class Checked(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        torch._check(x.shape[1] > 5)
        return x * 2


class Selected(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, 7] + x[:, -3]


class Averaged(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        average = functional.avg_pool2d(x.reshape(1, 2, 1, -1), (1, 12))
        return average * 2 if x.shape[1] >= 20 else average


class Unfolded(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.unfold(x.reshape(1, 2, 1, -1), (1, 4), stride=2)


MODELS = [
    *((Reflected(), 4), (Greatest(), 5), (Checked(), 6), (Selected(), 8), (Averaged(), 12)),
    (Unfolded(), 4),
]


@pytest.mark.parametrize(("model", "least"), MODELS)
@pytest.mark.parametrize("dim", [Dim.AUTO, Dim("n")])
def test_checks_are_notes(model: torch.nn.Module, least: int, dim: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program = sardonyx.export(model, (torch.randn(2, 16),), dynamic_shapes=({1: dim},))
    (note,) = (each for each in program.notes if each.code == "SX1015")
    assert note.severity == "note"
    assert f"raises in PyTorch where it is not at least {least}:" in note.message
    with pytest.raises((RuntimeError, IndexError)):
        model(torch.randn(2, least - 1))
    for size in (least, least + 9, 24):
        x = torch.randn(2, size)
        torch.testing.assert_close(program(x)[0], model(x))


class Halves(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.split(x.shape[1] // 2, 1)[-1]


def test_what_an_operator_asks_is_a_warning() -> None:
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="an operator asks"):
        sardonyx.export(Halves(), (torch.randn(2, 16),), dynamic_shapes=({1: Dim.AUTO},))


class Shortened(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        count = x.shape[1]
        return x[0, : -(count // 4)].unsqueeze(0).expand(count, -1).flatten()


def test_a_check_of_what_a_slice_answered_is_none() -> None:
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="an operator asks"):
        sardonyx.export(Shortened(), (torch.randn(2, 3),), dynamic_shapes=({1: Dim.AUTO},))


class Counted(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        count = x.shape[1]
        for _ in range(x.shape[1] // 8):
            count *= 2
        return torch.full((1,), count)


def test_a_loop_over_a_size_names_the_model() -> None:
    example = (torch.ones(1, 2),)
    asked = "the model's own code asks whether it is at most 7"
    with pytest.warns(sardonyx.errors.SpecializationWarning, match=asked):
        sardonyx.export(Counted(), example, dynamic_shapes=({1: Dim.AUTO},))
    with pytest.raises(sardonyx.errors.CaptureError, match=asked):
        sardonyx.export(Counted(), example, dynamic_shapes=({1: Dim("n")},))


class Fifths(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 3 if -(-x.shape[0] // 5) != 7 else x.sum()


def test_a_branch_that_few_sizes_take_is_a_warning() -> None:
    with pytest.warns(sardonyx.errors.SpecializationWarning, match="7"):
        sardonyx.export(Fifths(), (torch.ones(2, 3),), dynamic_shapes=({0: Dim.AUTO},))


class Padded(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        sides = (0, -x.shape[3] % 2, 0, -x.shape[2] % 2)
        return functional.pixel_unshuffle(functional.pad(x, sides), 2)


BLOCKS = [(torch.nn.PixelUnshuffle(2), (2, 8)), (Padded(), (1, 9))]


@pytest.mark.parametrize(("model", "sides"), BLOCKS)
def test_blocks_of_images_need_no_bound(model: torch.nn.Module, sides: tuple[int, int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program = sardonyx.export(
            model, (torch.randn(1, 2, 6, 8),), dynamic_shapes=({2: Dim.AUTO, 3: Dim.AUTO},)
        )
    assert not program.notes
    for height, width in ((2, 2), (10, 4), sides):
        x = torch.randn(1, 2, height, width)
        torch.testing.assert_close(program(x)[0], model(x))


class OfData(torch.nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return torch.unique(x) + 1, x[x > 0].relu(), x.masked_select(x > 1)


@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.filterwarnings("ignore:dynamo is deprecated")
def test_counts_of_data_print_nothing(dynamo: bool, capfd: pytest.CaptureFixture[str]) -> None:
    model, dims = OfData(), {0: Dim("n"), 1: Dim("m")}
    program = sardonyx.export(model, (torch.randn(4, 6),), dynamic_shapes=(dims,), dynamo=dynamo)
    assert "raised" not in capfd.readouterr().err
    x = torch.randn(7, 5)
    torch.testing.assert_close(program(x), model(x))
