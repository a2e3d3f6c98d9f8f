"""Images and volumes: sampling on grids, resampling, adaptive and fractional pooling, unpooling."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.operators.check import Case, check, table, uncapturable
from tests.operators.inputs import INF, NAN, floats, ints, of, positive
from tests.opinfo.rules import scaled, steps_in_float32

aten = torch.ops.aten
F64 = torch.float64
X1 = floats(2, 4, 9)
X2 = floats(2, 4, 7, 8)
X3 = floats(1, 2, 5, 6, 5)
GRID = floats(2, 3, 4, 2) * 1.2
GRID3 = floats(1, 3, 2, 4, 3) * 1.2


def grid(
    mode: int, padding: int, corners: bool, x: torch.Tensor = X2, points: torch.Tensor = GRID
) -> tuple[object, ...]:
    return lambda a, g: aten.grid_sampler(a, g, mode, padding, corners), x, points


@table(
    *[
        grid(mode, padding, corners)
        for mode in range(3)
        for padding in range(3)
        for corners in (False, True)
    ],
    *[
        grid(mode, padding, corners, X3, GRID3)
        for mode in range(2)
        for padding in range(3)
        for corners in (False, True)
    ],
    grid(0, 0, False, X2.to(F64), GRID.to(F64)),
    grid(2, 2, True, X2.to(F64), GRID.to(F64)),
    grid(0, 1, True, X2.half(), GRID.half()),
    grid(0, 0, False, X2.bfloat16(), GRID.bfloat16()),
    grid(
        1,
        0,
        False,
        X2,
        of([[[0.0, 0.0], [-1.0, 1.0], [0.125, -0.25], [3.0, 0.0]]]).expand(2, -1, -1, -1),
    ),
    grid(0, 0, False, floats(0, 3, 4, 4), floats(0, 2, 2, 2)),
    grid(0, 0, False, X2, floats(2, 0, 4, 2)),
    grid(0, 2, True, floats(2, 1, 1, 1), GRID),
    grid(0, 1, False, floats(2, 1, 1, 5), GRID),
    (lambda x, g: aten.grid_sampler_2d(x, g, 0, 0, True), X2, GRID),
    (lambda x, g: aten.grid_sampler_3d(x, g, 0, 0, True), X3, GRID3),
    (lambda t: F.affine_grid(t, (2, 3, 4, 5), align_corners=False), floats(2, 2, 3)),
    (lambda t: F.affine_grid(t, (2, 3, 4, 5), align_corners=True), floats(2, 2, 3)),
    (lambda t: F.affine_grid(t, (2, 3, 1, 1), align_corners=True), floats(2, 2, 3)),
    (lambda t: F.affine_grid(t, (1, 1, 2, 3, 4), align_corners=False), floats(1, 3, 4)),
    (lambda t: F.affine_grid(t, (1, 1, 2, 1, 4), align_corners=True), floats(1, 3, 4)),
    (lambda t: F.affine_grid(t, (1, 1, 2, 3), align_corners=False), floats(1, 2, 3, dtype=F64)),
    (lambda t, x: F.affine_grid(t, x.shape, align_corners=True), floats(2, 2, 3), X2),
    (
        lambda t, x: F.grid_sample(
            x, F.affine_grid(t, x.shape, align_corners=False), align_corners=False
        ),
        floats(2, 2, 3),
        X2,
    ),
)
def test_grids(case: Case) -> None:
    image_first = case.inputs[0].dim() == case.inputs[-1].dim()
    check(case, steps_in_float32 if image_first else scaled)


@table(
    (lambda x: F.interpolate(x, scale_factor=(1.5, 0.7), mode="nearest"), X2),
    (lambda x: F.interpolate(x, scale_factor=(1.3, 0.7), mode="nearest-exact"), X2),
    (lambda x: F.interpolate(x, scale_factor=(2.25, 1.25), mode="nearest"), floats(1, 2, 3, 3)),
    (lambda x: F.interpolate(x, scale_factor=(2.25, 1.25), mode="nearest"), floats(1, 2, 9, 8)),
    (lambda x: F.interpolate(x, scale_factor=(2.3, 1.2), mode="nearest"), floats(1, 2, 3, 4)),
    (lambda x: F.interpolate(x, scale_factor=1.25, mode="nearest"), floats(1, 2, 3)),
    (lambda x: F.interpolate(x, scale_factor=1.25, mode="nearest"), floats(1, 2, 3, 3, 3)),
    (lambda x: F.interpolate(x, scale_factor=1.25, mode="nearest-exact"), floats(1, 2, 3)),
    (lambda x: F.interpolate(x, scale_factor=1.25, mode="linear"), floats(1, 2, 3)),
    (lambda x: F.interpolate(x, scale_factor=(1.25, 1.3), mode="bilinear"), floats(1, 2, 3, 5)),
    (lambda x: F.interpolate(x, scale_factor=1.25, mode="bicubic"), floats(1, 2, 3, 3)),
    (lambda x: F.interpolate(x, scale_factor=1.3, mode="linear"), X1),
    (lambda x: F.interpolate(x, scale_factor=1.7, mode="bicubic"), X2),
    (lambda x: F.interpolate(x, scale_factor=0.7, mode="bicubic", align_corners=True), X2),
    (lambda x: F.interpolate(x, scale_factor=0.7, mode="bilinear", align_corners=True), X2),
    (lambda x: F.interpolate(x, scale_factor=0.7, mode="trilinear"), X3),
    (lambda x: F.interpolate(x, scale_factor=0.7, recompute_scale_factor=True), X2),
    (lambda x: F.interpolate(x, scale_factor=0.7, mode="bilinear", antialias=True), X2),
    (lambda x: F.interpolate(x, scale_factor=0.3, mode="bicubic", antialias=True), X2),
    (lambda x: F.interpolate(x, scale_factor=0.5, mode="bilinear", antialias=True), X2),
    (
        lambda x: F.interpolate(
            x, size=(3, 5), mode="bilinear", antialias=True, align_corners=True
        ),
        X2,
    ),
    (
        lambda x: F.interpolate(x, size=(3, 5), mode="bicubic", antialias=True, align_corners=True),
        X2,
    ),
    (lambda x: F.interpolate(x, size=(13, 5), mode="bicubic", antialias=True), X2.to(F64)),
    (lambda x: aten._upsample_lanczos2d_aa(x, [3, 5], False), X2),
    (lambda x: aten._upsample_lanczos2d_aa(x, [11, 5], True), X2),
    (lambda x: F.interpolate(x, size=(13, 5), mode="bilinear"), X2.to(F64)),
    (lambda x: F.interpolate(x, size=(13, 5), mode="bicubic"), X2.bfloat16()),
    (lambda x: F.interpolate(x, scale_factor=1.3, mode="bilinear"), X2.half()),
    (
        lambda x: F.interpolate(x, size=(13, 5), mode="nearest"),
        ints(1, 2, 7, 8, low=0, high=255, dtype=torch.uint8),
    ),
    (
        lambda x: F.interpolate(x, scale_factor=1.3),
        ints(1, 2, 7, 8, low=0, high=255, dtype=torch.uint8),
    ),
    (lambda x: aten.upsample_nearest2d(x, [14, 16], 2.0, 2.0), X2),
    (lambda x: aten.upsample_bilinear2d(x, [9, 10], False, 1.3, 1.3), X2),
    (lambda x: F.pixel_shuffle(x, 2), X2),
    (lambda x: F.pixel_shuffle(x, 2), ints(4, 3, 3)),
    (lambda x: F.pixel_shuffle(x, 2), floats(2, 3, 4, 3, 3)),
    (lambda x: F.pixel_unshuffle(x, 2), floats(2, 3, 6, 8)),
    (lambda x: F.channel_shuffle(x, 2), X2),
    (lambda x: F.channel_shuffle(x, 2), ints(2, 4, 3)),
    (lambda x: F.channel_shuffle(x, 3), floats(1, 6, 2, 2, 2)),
    (lambda x: F.local_response_norm(x, 3), X2),
    (lambda x: F.local_response_norm(x, 2, 0.1, 0.5, 2.0), X3),
)
def test_resampling(case: Case) -> None:
    check(case, scaled)


@table(
    (lambda x: F.adaptive_max_pool1d(x, 4), X1),
    (lambda x: F.adaptive_max_pool1d(x, 4, return_indices=True), X1),
    (lambda x: F.adaptive_max_pool1d(x, 12, return_indices=True), floats(4, 9)),
    (lambda x: F.adaptive_max_pool2d(x, (3, 5), return_indices=True), X2),
    (lambda x: F.adaptive_max_pool2d(x, (None, 4), return_indices=True), X2),
    (lambda x: F.adaptive_max_pool2d(x, (7, 4)), X2),
    (lambda x: F.adaptive_max_pool2d(x, (7, 4), return_indices=True), X2),
    (lambda x: F.adaptive_max_pool2d(x, 1, return_indices=True), floats(4, 7, 8)),
    (
        lambda x: F.adaptive_max_pool2d(x, 2, return_indices=True),
        of([[[1.0, NAN, 2.0], [0.0, INF, 5.0], [NAN, -INF, 1.0]]]),
    ),
    (lambda x: F.adaptive_max_pool2d(x, 2, return_indices=True), torch.zeros(1, 1, 4, 4)),
    (lambda x: F.adaptive_max_pool2d(x, 3), X2.to(F64)),
    (lambda x: F.adaptive_max_pool2d(x, 3), X2.half()),
    (lambda x: F.adaptive_max_pool3d(x, (2, 4, 3), return_indices=True), X3),
    (lambda x: F.adaptive_max_pool3d(x, 2), floats(2, 5, 6, 5)),
    (lambda x: F.adaptive_avg_pool2d(x, (None, 4)), X2),
    (lambda x: F.adaptive_avg_pool2d(x, (x.shape[3], 3)), X2),
    (lambda x: F.adaptive_avg_pool3d(x, (2, 4, 3)), X3),
    (lambda x: F.adaptive_avg_pool3d(x, (2, 4, 3)), X3[0]),
    (lambda x: F.adaptive_avg_pool2d(x, (3, 5)), X2.to(F64)),
    (lambda x: F.adaptive_avg_pool2d(x, (3, 5)), floats(0, 4, 7, 8)),
    (
        lambda x, u: F.fractional_max_pool2d(x, 2, (3, 4), return_indices=True, _random_samples=u),
        X2,
        positive(2, 4, 2) / 2.2,
    ),
    (
        lambda x, u: F.fractional_max_pool2d(x, (2, 3), 1, return_indices=True, _random_samples=u),
        X2,
        positive(2, 4, 2) / 2.2,
    ),
    (
        lambda x, u: F.fractional_max_pool2d(x, 2, (3, 4), return_indices=True, _random_samples=u),
        X2[0],
        positive(1, 4, 2) / 2.2,
    ),
    (
        lambda x, u: F.fractional_max_pool3d(
            x, 2, (3, 4, 2), return_indices=True, _random_samples=u
        ),
        X3,
        positive(1, 2, 3) / 2.2,
    ),
    (
        lambda x, u: F.fractional_max_pool3d(x, 2, (3, 4, 2), _random_samples=u),
        X3[0],
        positive(2, 2, 3) / 2.2,
    ),
    (lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), 2), X1),
    (lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), floats(2, 4, 6)),
    (
        lambda x: F.max_unpool2d(
            *F.max_pool2d(x, 3, 2, return_indices=True), 3, 2, output_size=(7, 8)
        ),
        X2,
    ),
    (lambda x: F.max_unpool3d(*F.max_pool3d(x, 2, return_indices=True), 2), floats(2, 4, 6, 4)),
    (
        lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2),
        floats(1, 2, 4, 6, dtype=F64),
    ),
    (lambda x: F.max_pool2d(x, 3, return_indices=True)[1], ints(1, 2, 7, 8)),
    (lambda x: F.max_pool2d(x, 3, ceil_mode=True, return_indices=True)[1], floats(1, 2, 7, 8)),
    (lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True, return_indices=True), ints(1, 2, 7, 8)),
    (lambda x: F.max_pool2d(x, 2, 2, 1, ceil_mode=True, return_indices=True), floats(1, 2, 7, 9)),
    (lambda x: F.max_pool2d(x, (2, 3), 2, 1, ceil_mode=True), floats(1, 2, 7, 8)),
    (lambda x: F.max_pool1d(x, 3, 2, 1, 2, ceil_mode=True), floats(1, 2, 8)),
    (lambda x: F.avg_pool2d(x, 2, 2, 1, ceil_mode=True), floats(1, 2, 7, 9)),
    (lambda x: F.avg_pool2d(x, 2, 2, 1, True, False), floats(1, 2, 7, 9)),
    (lambda x: F.avg_pool2d(x, (2, 3), 2, 1, ceil_mode=True), floats(1, 2, 7, 8)),
    (lambda x: F.avg_pool2d(x, (2, 3), 2, 1, True, False), floats(1, 2, 7, 8)),
    (lambda x: F.max_pool2d(x, 2, dilation=2), ints(1, 2, 7, 8, dtype=torch.int32)),
    (lambda x: F.max_pool2d(x, 2, return_indices=True), ints(2, 7, 8, dtype=torch.int16)),
    (
        lambda x: F.max_pool3d(x, 2, return_indices=True),
        ints(1, 2, 4, 5, 6, dtype=torch.uint8, low=0),
    ),
    (lambda x: F.avg_pool1d(x, 3, 2, 1), ints(2, 3, 9)),
    (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), ints(1, 3, 7, 8)),
    (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False), ints(3, 7, 8)),
    (lambda x: F.avg_pool2d(x, 2, divisor_override=3), ints(1, 3, 7, 8)),
    (lambda x: F.avg_pool3d(x, 2, 2, 1), ints(1, 3, 4, 5, 6)),
    (lambda x: F.avg_pool2d(x, 3, 2, 1, True, True, 5), X2),
    (lambda x: F.avg_pool2d(x, 2, 2, 0, False, True, -3), X2),
    (lambda x: F.avg_pool3d(x, 3, 2, 1, True, False, 4), X3),
    (lambda x: F.lp_pool1d(x, 2, 3), X1),
    (lambda x: F.lp_pool2d(x, 3.0, 2, ceil_mode=True), X2),
    (lambda x: F.lp_pool3d(x, 1.5, 2), positive(1, 2, 5, 6, 5)),
)
def test_cells_and_windows(case: Case) -> None:
    check(case, scaled)


@table(
    (lambda x, w: F.conv1d(x, w, padding="same", dilation=2), ints(2, 4, 9), ints(6, 4, 4)),
    (
        lambda x, w, b: F.conv2d(x, w, b, 2, 1, groups=2),
        ints(2, 4, 7, 8),
        ints(6, 2, 3, 2),
        ints(6),
    ),
    (
        lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 2), (1, 2)),
        X2.to(F64),
        floats(6, 4, 3, 3, dtype=F64),
        floats(6, dtype=F64),
    ),
    (lambda x, w: F.conv3d(x, w, stride=2), ints(1, 2, 5, 6, 5), ints(3, 2, 2, 3, 2)),
    (lambda x, w: F.conv1d(x, w), ints(4, 9), ints(6, 4, 3)),
    (lambda x, w: F.conv2d(x, w), ints(0, 4, 7, 8), ints(6, 4, 3, 2)),
    (
        lambda x, w, b: F.conv_transpose1d(x, w, b, 2, 1, 1, 2, 2),
        ints(2, 4, 9),
        ints(4, 3, 3),
        ints(6),
    ),
    (
        lambda x, w: F.conv_transpose2d(x, w, stride=(3, 2), output_padding=(2, 1)),
        X2.to(F64),
        floats(4, 3, 3, 3, dtype=F64),
    ),
    (
        lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=2, dilation=(1, 2)),
        ints(2, 4, 7, 8),
        ints(4, 3, 3, 2),
    ),
    (
        lambda x, w: F.conv_transpose3d(x, w, stride=2, groups=2),
        ints(1, 2, 3, 4, 3),
        ints(2, 2, 2, 2, 2),
    ),
    (lambda x, w: F.conv_transpose2d(x, w), ints(4, 3, 3), ints(4, 3, 3, 3)),
    (
        lambda x, w: F.conv_transpose2d(
            x, w, stride=2, groups=2, dilation=2, padding=1, output_padding=1
        ),
        X2,
        floats(4, 3, 3, 3),
    ),
    (
        lambda x, w, b: aten._convolution(
            x, w, b, [2, 1], [1, 0], [1, 1], False, [0, 0], 1, False, False, False, False
        ),
        X2,
        floats(6, 4, 3, 3),
        floats(6),
    ),
    (
        lambda x, w: aten.convolution(x, w, None, [2, 2], [1, 0], [1, 1], True, [1, 0], 2),
        X2,
        floats(4, 3, 3, 3),
    ),
    (
        lambda x, w: aten._convolution_mode(x, w, None, [1, 1], "same", [1, 1], 2),
        X2,
        floats(6, 2, 3, 2),
    ),
    uncapturable(
        "UnsupportedOperatorException: aten._slow_conv2d_forward",
        lambda x, w: aten._slow_conv2d_forward(x, w, [3, 3], None, [2, 1], [1, 0]),
        X2,
        floats(6, 4, 3, 3),
    ),
    uncapturable(
        "UnsupportedOperatorException: aten.slow_conv3d_forward",
        lambda x, w: aten.slow_conv3d_forward(x, w, [2, 3, 2], None, [1, 1, 1], [0, 1, 0]),
        X3,
        floats(3, 2, 2, 3, 2),
    ),
    (lambda x: F.unfold(x, 3, dilation=2, padding=1, stride=2), floats(2, 3, 7, 8)),
    (lambda x: F.unfold(x, (2, 3)), floats(3, 7, 8)),
    (lambda x: F.fold(x, (5, 6), (2, 3), padding=1, stride=2), floats(2, 12, 9)),
    (lambda x: F.fold(x, (5, 6), (2, 3), dilation=2), floats(12, 6)),
    (lambda x: F.fold(x, (5, 6), (2, 2)), floats(2, 4, 20, dtype=F64)),
    (lambda x: F.pad(x, (1, -2, -1, 3), mode="replicate"), X2),
    (lambda x: F.pad(x, (1, -2, -1, 3), mode="reflect"), X2),
    (lambda x: F.pad(x, (1, -2, -1, 3), value=2.5), X2),
    (lambda x: F.pad(x, (-1, -2, 0, 0), value=2), ints(3, 4, 9)),
    (lambda x: F.pad(x, (2, 3), mode="circular"), X1),
    (lambda x: F.pad(x, (2, -1, 1, 2), mode="circular"), X2),
    (lambda x: F.pad(x, (1, 2, 1, 0, 2, 1), mode="circular"), X3),
    (lambda x: F.pad(x, (1, 2, 1, 0, 2, 1), mode="reflect"), X3),
    (lambda x: F.pad(x, (1, 2, 1, 0, 2, 1), mode="replicate"), X3[0]),
    (lambda x: F.pad(x, (1, 2), mode="replicate"), floats(4, 9, dtype=torch.float16)),
    (lambda x: F.pad(x, (1, 2), mode="reflect"), ints(2, 4, 9)),
    (lambda x: F.pad(x, (1, 2), mode="replicate"), ints(2, 4, 9, dtype=torch.int8)),
    (lambda x: F.pad(x, (1, 2), value=True), ints(2, 4, 9) > 0),
    (lambda x: aten._pad_enum(x, [1, 2, 1, 1], 0), X2),
    (lambda x: aten._pad_enum(x, [1, 2, 1, 1], 1), X2),
    (lambda x: aten._pad_enum(x, [1, 2, 1, 1], 2), X2),
    (lambda x: aten._pad_enum(x, [1, 2], 3, 1.5), X2),
    (lambda x: F.pad(x, (0, x.shape[2])), X2),
)
def test_convolutions_and_padding(case: Case) -> None:
    check(case, scaled)


def test_nearest_repeats_elements_whatever_the_factor() -> None:
    """As long as it is known that an axis comes out as long, or twice as long."""

    def program(x: torch.Tensor) -> torch.Tensor:
        return F.interpolate(x, scale_factor=(2.25, 1.4), mode="nearest")

    check(Case(program, (floats(1, 2, 3, 2),), dynamic=False))
