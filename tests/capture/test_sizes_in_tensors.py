"""Sizes that are put into tensors and read out again are sizes still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim

import sardonyx


class Of(torch.nn.Module):
    def __init__(self, compute: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self.compute = compute

    def forward(self, x: torch.Tensor) -> Any:
        return self.compute(x)


def grid(x: torch.Tensor) -> torch.Tensor:
    """As detectors have it: what is made of the sizes fits the tensor, which data would not say."""
    shapes = torch.tensor([(x.shape[2], x.shape[3])], dtype=torch.long)
    rows, columns = shapes[0, 0], shapes[0, 1]
    grid = torch.arange(rows, dtype=x.dtype).view(-1, 1) + torch.arange(columns, dtype=x.dtype)
    if grid.numel() != x.shape[2] * x.shape[3]:
        return grid
    return x.flatten(2) * grid.flatten()


def halves(x: torch.Tensor) -> torch.Tensor:
    count = torch.div(x.size(2) + 1, 2, rounding_mode="floor")
    return torch.cat([x[:, :, :count], x.new_zeros(x.size(0), 1, count, x.size(3))], 1)


def listed(x: torch.Tensor) -> torch.Tensor:
    rows, columns = (torch.stack([torch.tensor(n) for n in x.shape[2:]]) // 2 * 3 - 1).tolist()
    return x.new_ones(rows, columns)


def of_both(x: torch.Tensor) -> torch.Tensor:
    sizes = torch.cat([torch.tensor([x.shape[2]]), torch.tensor([3])]) + 1
    return x.new_ones(int(sizes.numel()), sizes[0], sizes[1])


@pytest.mark.parametrize("compute", [grid, halves, listed, of_both])
def test_sizes_in_tensors(compute: Callable[[torch.Tensor], Any]) -> None:
    dims = {0: Dim("batch"), 2: Dim("height", min=2), 3: Dim("width", min=2)}
    program = sardonyx.export(Of(compute), (torch.ones(2, 1, 6, 8),), dynamic_shapes=(dims,))
    assert not program.notes
    outputs = program.model_proto.graph.output[0].type.tensor_type.shape.dim
    assert not any(dim.dim_param.startswith("u") for dim in outputs)
    for sizes in ((3, 1, 5, 7), (1, 1, 3, 2)):
        x = torch.randn(sizes)
        torch.testing.assert_close(program(x)[0], Of(compute)(x))


def test_what_was_written_to_is_data() -> None:
    def compute(x: torch.Tensor) -> torch.Tensor:
        sizes = torch.stack([torch.tensor(n) for n in x.shape])
        sizes[0] += (x > 0).sum()
        return x.new_ones(sizes[0])

    program = sardonyx.export(Of(compute), (torch.ones(2, 3),), dynamic_shapes=({0: Dim("batch")},))
    for x in (torch.ones(4, 3), -torch.ones(5, 3)):
        torch.testing.assert_close(program(x)[0], Of(compute)(x))


def test_writes_elsewhere_leave_a_constant_as_it_was() -> None:
    def compute(x: torch.Tensor) -> torch.Tensor:
        width = torch.IntTensor([2])
        x = x.clone()
        x[0] = 1
        return x[:, : width[0]]

    dims = {0: Dim("batch", min=2)}
    program = sardonyx.export(
        Of(compute), (torch.ones(2, 3),), dynamic_shapes=(dims,), capture="quick"
    )
    x = torch.randn(4, 3)
    torch.testing.assert_close(program(x)[0], Of(compute)(x))


@pytest.mark.parametrize("bits", [torch.int64, torch.float64])
def test_a_write_to_a_constant_or_its_bits_is_seen(bits: torch.dtype) -> None:
    def compute(x: torch.Tensor) -> torch.Tensor:
        width = torch.tensor([2])
        width.view(bits)[0] = torch.tensor([3]).view(bits)[0]
        return x[:, : width[0]]

    program = sardonyx.export(Of(compute), (torch.ones(2, 3),), dynamic_shapes=({0: Dim("batch")},))
    x = torch.randn(4, 3)
    torch.testing.assert_close(program(x)[0], Of(compute)(x))


def test_quotients_of_sizes_in_tensors_are_sizes() -> None:
    """As torchaudio's resampling cuts its result."""

    def compute(x: torch.Tensor) -> torch.Tensor:
        length = torch.ceil(torch.as_tensor(2 * x.shape[1] / 3)).long()
        return x.repeat_interleave(2, 1)[..., :length]

    dims = {0: Dim("batch"), 1: Dim("length", min=2)}
    program = sardonyx.export(Of(compute), (torch.ones(2, 9),), dynamic_shapes=(dims,))
    assert not program.notes
    for sizes in ((1, 2), (3, 8), (2, 13)):
        x = torch.randn(sizes)
        torch.testing.assert_close(program(x)[0], compute(x))
