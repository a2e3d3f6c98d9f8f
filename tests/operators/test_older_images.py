"""Operators on images at opsets that lack them: their definitions stand for them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from tests.operators.check import Case, check, table
from tests.operators.inputs import bools, floats
from tests.operators.torchvision_operators import register

register()
ops = torch.ops.torchvision

D = torch.float64
INFINITE = torch.cat([floats(1, 4, 24), torch.full((1, 4, 1), torch.inf)], 2)


def grid(*shape: int) -> torch.Tensor:
    return floats(*shape) * 0.7


@table(
    (lambda x, g: F.grid_sample(x, g, align_corners=False), floats(2, 3, 5, 6), grid(2, 4, 3, 2)),
    (
        lambda x, g: F.grid_sample(x, g, "bicubic", "reflection", align_corners=True),
        floats(2, 3, 5, 6),
        grid(2, 4, 3, 2),
    ),
    (
        lambda x, g: F.grid_sample(x, g, "nearest", "border", align_corners=False),
        floats(2, 3, 5, 6, dtype=D),
        floats(2, 4, 3, 2, dtype=D),
    ),
    (
        lambda x, g: F.grid_sample(x, g, align_corners=True),
        floats(2, 2, 3, 4, 5),
        grid(2, 3, 4, 2, 3),
    ),
)
def test_grid_samples(case: Case) -> None:
    check(case, opset=13)


@table(
    (lambda x: F.fold(x, (7, 8), (3, 2), (1, 2), 1, 2), floats(2, 18, 16)),
    (lambda x: F.fold(x, (6, 6), 2), INFINITE),
    (lambda x: F.fold(x, (5, 9), (2, 3), stride=(2, 3)), floats(2, 12, 6, dtype=D)),
    (lambda x: F.unfold(x, 3, padding=1), floats(2, 3, 4, 5)),
)
def test_patches(case: Case) -> None:
    check(case, opset=13)


@table(
    (lambda x: F.interpolate(x, (5, 6), mode="bilinear", antialias=True), floats(2, 3, 9, 8)),
    (
        lambda x: F.interpolate(x, scale_factor=0.5, mode="bicubic", antialias=True),
        floats(1, 2, 8, 9),
    ),
    (lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"), floats(1, 2, 3, 2, 4, dtype=D)),
    (lambda x: F.interpolate(x, (3, 7), mode="bicubic"), floats(1, 2, 5, 4, dtype=D)),
    (lambda x: F.interpolate(x, 7, mode="nearest"), floats(1, 2, 5, dtype=D)),
)
def test_resampling(case: Case) -> None:
    check(case, opset=13)


@table(
    (lambda x: F.max_pool2d(x, 1, 3, ceil_mode=True), floats(1, 2, 6, 7)),
    (
        lambda x: F.max_pool2d(x, (2, 3), 2, 1, ceil_mode=True, return_indices=True),
        floats(1, 2, 7, 8),
    ),
    (lambda x: F.avg_pool2d(x, (1, 3), (3, 2), ceil_mode=True), floats(1, 2, 6, 8)),
    (lambda x: F.avg_pool2d(x, 2, 2, 1, ceil_mode=True), floats(1, 2, 7, 8)),
    (lambda x: F.avg_pool2d(x, 2, 2, 1, True, False), floats(1, 2, 7, 8, dtype=D)),
    (lambda x: F.max_pool2d(F.pad(x, (1, 1, 1, 1)), 2), -floats(1, 2, 6, 6).abs()),
)
def test_pooling(case: Case) -> None:
    check(case, opset=13)


@table(
    (
        lambda x, w, o, m, b: ops.deform_conv2d(x, w, o, m, b, 2, 1, 1, 2, 1, 2, 2, 2, True),
        floats(2, 4, 6, 7),
        floats(4, 2, 3, 3),
        floats(2, 36, 3, 7) * 2,
        floats(2, 18, 3, 7),
        floats(4),
    ),
)
def test_deformable_convolution(case: Case) -> None:
    check(case, opset=13)


@table(
    (lambda x: x.triu(1), bools(4, 5)),
    (lambda x: x.tril(-1), floats(2, 4, 5)),
)
def test_triangles(case: Case) -> None:
    check(case, opset=13)


@pytest.mark.parametrize("opset", [16, 19, 21, 22])
@pytest.mark.parametrize(
    "row",
    [
        (lambda x: F.max_pool2d(x, 2, 3, ceil_mode=True), floats(1, 1, 7, 7)),
        (lambda x: F.avg_pool2d(x, (1, 3), (3, 2), ceil_mode=True), floats(1, 2, 6, 8)),
        (
            lambda x, g: F.grid_sample(x, g, align_corners=False),
            floats(1, 1, 3, 4),
            grid(1, 2, 3, 2),
        ),
    ],
    ids=["max", "mean", "grid"],
)
def test_each_form(row: tuple[Any, ...], opset: int) -> None:
    check(Case(row[0], row[1:], dynamic=False), opset=opset)
