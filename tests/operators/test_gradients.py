"""Operators of backward passes, which a program for inference may call by name: those that PyTorch
itself does not take apart."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from tests.operators.check import Case, check, table, uncapturable
from tests.operators.inputs import INF, floats, ints, positive, specials
from tests.opinfo.rules import scaled

aten = torch.ops.aten
Function = Callable[..., Any]


INDICES = ints(3, 4, low=0, high=5)


def convolution(
    stride: int, padding: int, dilation: int = 1, groups: int = 1, transposed: int = -1
) -> Function:
    """`transposed`: output padding of a transposed convolution."""

    def backward(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor) -> Any:
        bias = weight.shape[1] * groups if transposed >= 0 else weight.shape[0]
        window = [stride], [padding], [dilation], transposed >= 0, [max(transposed, 0)], groups
        return aten.convolution_backward(grad, x, weight, [bias], *window, [True, True, True])

    return backward


def only_weight(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor) -> Any:
    window = [1, 1], [0, 0], [1, 1], False, [0, 0], 1
    return aten.convolution_backward(grad, x, weight, None, *window, [False, True, False])[1]


# What torch.export says where sizes vary.
NO_SIZES = "RuntimeError: TensorIterator does not support symbolic shapes"


@table(
    (convolution(1, 0), floats(2, 3, 5), floats(2, 4, 7), floats(3, 4, 3)),
    (
        convolution(1, 0),
        floats(2, 3, 5).double(),
        floats(2, 4, 7).double(),
        floats(3, 4, 3).double(),
    ),
    (convolution(2, 1), floats(2, 3, 4, 4), floats(2, 4, 8, 7), floats(3, 4, 3, 3)),
    (convolution(3, 0), floats(2, 3, 3, 3), floats(2, 4, 9, 10), floats(3, 4, 2, 2)),
    (convolution(2, 2, 2, 2), floats(2, 6, 4, 5), floats(2, 4, 8, 9), floats(6, 2, 3, 3)),
    (convolution(1, 1), floats(1, 2, 4, 5, 6), floats(1, 3, 4, 5, 6), floats(2, 3, 3, 3, 3)),
    (convolution(2, 1, transposed=0), floats(2, 5, 8, 10), floats(2, 3, 5, 6), floats(3, 5, 2, 2)),
    (convolution(2, 1, 1, 2, 1), floats(2, 6, 10, 12), floats(2, 4, 5, 6), floats(4, 3, 3, 3)),
    (convolution(1, 0, 3, 1, 2), floats(2, 5, 13), floats(2, 3, 5), floats(3, 5, 3)),
    (only_weight, floats(2, 3, 4, 4), floats(2, 4, 6, 6), floats(3, 4, 3, 3)),
)
def test_convolutions(case: Case) -> None:
    check(case, scaled)


X = floats(3, 4, 5) * 2
Y = positive(3, 4, 5, seed=9) / 3
G = floats(3, 4, 5, seed=8)


@table(
    (lambda g, y: aten.tanh_backward(g, y), G, Y),
    (lambda g, y: aten.sigmoid_backward(g, y), G, Y),
    (lambda g, x: aten.silu_backward(g, x), G, X),
    (lambda g, x: aten.silu_backward(g, x), G.half(), X.half()),
    (lambda g, x: aten.mish_backward(g, x), G, X * 5),
    (lambda g, x: aten.softplus_backward(g, x, 1, 20), floats(14), specials()),
    (lambda g, x: aten.softplus_backward(g, x, 2.5, 0.7), G, X),
    (lambda g, x: aten.softplus_backward(g, x, 2.5, 0.7), G.half(), X.half()),
    (lambda g, x: aten.gelu_backward(g, x), G, X),
    (lambda g, x: aten.gelu_backward(g, x), G.double(), X.double()),
    (lambda g, x: aten.gelu_backward(g, x, approximate="tanh"), G, X),
    (lambda g, x: aten.threshold_backward(g, x, 0.3), G, X),
    (lambda g, x: aten.threshold_backward(g, x, 0), G * INF, X),
    (lambda g, x: aten.hardtanh_backward(g, x, -0.5, 0.7), G, X),
    uncapturable(NO_SIZES, lambda g, x: aten.softshrink_backward(g, x, 0.5), G, X),
    uncapturable(
        NO_SIZES, lambda g, x: aten.hardshrink_backward(g, x, 0.5), floats(14), specials()
    ),
    (lambda g, x: aten.leaky_relu_backward(g, x, 0.2, False), floats(14), specials()),
    (lambda g, x: aten.elu_backward(g, 1.5, 1.2, 0.7, False, x), G, X),
    (lambda g, y: aten.elu_backward(g, 1.5, 1.2, 0.7, True, y), G, X),
    (lambda g, x: aten.glu_backward(g, x, 1), G[:, :2], X),
    (lambda g, x: aten.glu_backward(g, x, -1), G[..., :2], X[..., :4]),
    (lambda g, y: aten.native_dropout_backward(g, y > 0.3, 2.5), G, Y),
    (lambda g, y: aten._softmax_backward_data(g, y, 1, torch.float32), G, Y),
    (lambda g, y: aten._log_softmax_backward_data(g, y, -1, torch.float32), G, -Y),
    (lambda g, i: aten.embedding_dense_backward(g, i, 6, -1, False), G, INDICES),
    (lambda g, i: aten.embedding_dense_backward(g, i, 6, 2, False), G, INDICES.int()),
    (lambda g, i: aten.embedding_dense_backward(g, i, 6, 1, True), G, INDICES),
)
def test_elements(case: Case) -> None:
    check(case)


def of_maxima(kernel: int, stride: int, padding: int) -> Function:
    def backward(x: torch.Tensor, grad: torch.Tensor) -> Any:
        window = [kernel, kernel], [stride, stride], [padding, padding], [1, 1], False
        indices = aten.max_pool2d_with_indices(x, *window)[1]
        return aten.max_pool2d_with_indices_backward(grad, x, *window, indices)

    return backward


def of_means(kernel: int, stride: int, padding: int, *, counts: bool, divisor: Any) -> Function:
    def backward(grad: torch.Tensor, x: torch.Tensor) -> Any:
        window = [kernel], [stride], [padding], False, counts, divisor
        return (aten.avg_pool2d_backward if x.dim() < 5 else aten.avg_pool3d_backward)(
            grad, x, *window
        )

    return backward


@table(
    (of_maxima(3, 1, 1), floats(2, 3, 6, 5), floats(2, 3, 6, 5)),
    (of_maxima(2, 2, 0), floats(3, 6, 5), floats(3, 3, 2)),
    (of_maxima(3, 2, 1), floats(1, 3, 6, 5).half(), floats(1, 3, 3, 3).half()),
    (
        lambda x, g: aten.max_pool3d_with_indices_backward(
            g,
            x,
            [2] * 3,
            [1] * 3,
            [0] * 3,
            [1] * 3,
            False,
            F.max_pool3d(x, 2, 1, return_indices=True)[1],
        ),
        floats(1, 2, 3, 4, 5),
        floats(1, 2, 2, 3, 4),
    ),
    (
        lambda g, x, i: aten.adaptive_max_pool2d_backward(g, x, i),
        floats(1, 2, 3, 3),
        floats(1, 2, 5, 6),
        ints(1, 2, 3, 3).abs(),
    ),
    (of_means(3, 2, 1, counts=True, divisor=None), floats(2, 3, 4, 5), floats(2, 3, 7, 9)),
    (of_means(3, 2, 1, counts=False, divisor=None), floats(3, 4, 5), floats(3, 7, 9)),
    (of_means(2, 2, 0, counts=True, divisor=3), floats(2, 3, 3, 4), floats(2, 3, 7, 9)),
    (of_means(2, 1, 1, counts=False, divisor=None), floats(1, 2, 4, 5, 4), floats(1, 2, 3, 4, 3)),
    (lambda g, x: aten._adaptive_avg_pool2d_backward(g, x), floats(2, 3, 4), floats(2, 7, 9)),
    (lambda g, x: aten._adaptive_avg_pool2d_backward(g, x), floats(1, 2, 5, 9), floats(1, 2, 3, 4)),
    (
        lambda g, x: aten._adaptive_avg_pool3d_backward(g, x),
        floats(1, 2, 3, 2, 4),
        floats(1, 2, 4, 5, 9),
    ),
)
def test_pooling(case: Case) -> None:
    check(case, scaled)


@table(
    (lambda g, x: aten.replication_pad1d_backward(g, x, [2, 1]), floats(2, 3, 8), floats(2, 3, 5)),
    (lambda g, x: aten.replication_pad1d_backward(g, x, [2, 0]), floats(3, 3), floats(3, 1)),
    (
        lambda g, x: aten.replication_pad2d_backward(g, x, [-1, 2, 1, 0]),
        floats(2, 3, 5, 6),
        floats(2, 3, 4, 5),
    ),
    (
        lambda g, x: aten.replication_pad3d_backward(g, x, [0, 1, 1, 0, 2, 1]),
        floats(2, 3, 6, 5, 4).double(),
        floats(2, 3, 3, 4, 3).double(),
    ),
    (lambda g, x: aten.reflection_pad1d_backward(g, x, [2, 1]), floats(2, 3, 8), floats(2, 3, 5)),
    (
        lambda g, x: aten.reflection_pad2d_backward(g, x, [1, 2, 3, 0]),
        floats(2, 3, 7, 8),
        floats(2, 3, 4, 5),
    ),
    (
        lambda g, x: aten.reflection_pad3d_backward(g, x, [0, 1, 1, 0, 2, 1]),
        floats(2, 3, 6, 5, 4),
        floats(2, 3, 3, 4, 3),
    ),
    (lambda x: aten.unfold_backward(x.unfold(1, 3, 2) * 2, x.shape, 1, 3, 2), floats(4, 7, 2)),
    (lambda x: aten.unfold_backward(x.unfold(-1, 3, 1) * 2, x.shape, -1, 3, 1), floats(4, 7)),
    (lambda g: aten.unfold_backward(g, [7], 0, 2, 3), floats(2, 2, dtype=torch.float16)),
)
def test_padding_and_windows(case: Case) -> None:
    check(case, scaled)


@table(
    (lambda g: aten.upsample_nearest1d_backward(g, [9], [2, 3, 4]), floats(2, 3, 9)),
    (lambda g: aten.upsample_nearest2d_backward(g, [9, 7], [2, 2, 6, 4]), floats(2, 2, 9, 7)),
    (
        lambda g: aten.upsample_nearest2d_backward(g, [6, 8], [2, 2, 6, 4], 1.1, 2.3),
        floats(2, 2, 6, 8),
    ),
    (lambda g: aten.upsample_nearest1d_backward(g, [8], [2, 3, 4], 2.1), floats(2, 3, 8)),
    (lambda g: aten.upsample_nearest1d_backward(g, [4], [2, 3, 4], 1.2), floats(2, 3, 4)),
    (
        lambda g: aten.upsample_nearest3d_backward(g, [4, 3, 4], [1, 2, 2, 3, 4], 2.2, 1.2, 1.1),
        floats(1, 2, 4, 3, 4),
    ),
    (
        lambda g: aten.upsample_bicubic2d_backward(g, [6, 4], [2, 2, 6, 4], False, 1.1, 1.2),
        floats(2, 2, 6, 4),
    ),
    (
        lambda g: aten.upsample_nearest2d_backward(g, [9, 7], [2, 2, 6, 4], 1.6, 1.8),
        floats(2, 2, 9, 7),
    ),
    (
        lambda g: aten.upsample_nearest2d_backward(g, [3, 2], [2, 2, 6, 4]),
        floats(2, 2, 3, 2).double(),
    ),
    (
        lambda g: aten.upsample_nearest3d_backward(g, [4, 6, 8], [1, 2, 2, 3, 4]),
        floats(1, 2, 4, 6, 8),
    ),
    (
        lambda g: aten._upsample_nearest_exact2d_backward(g, [9, 7], [2, 2, 6, 4]),
        floats(2, 2, 9, 7),
    ),
    (lambda g: aten.upsample_linear1d_backward(g, [9], [2, 3, 4], True), floats(2, 3, 9)),
    (
        lambda g: aten.upsample_bilinear2d_backward(g, [9, 7], [2, 2, 6, 4], False),
        floats(2, 2, 9, 7),
    ),
    (
        lambda g: aten.upsample_trilinear3d_backward(g, [4, 6, 8], [1, 2, 2, 3, 4], False),
        floats(1, 2, 4, 6, 8),
    ),
    (lambda g: aten.upsample_bicubic2d_backward(g, [9, 7], [2, 2, 6, 4], True), floats(2, 2, 9, 7)),
)
def test_resampling(case: Case) -> None:
    check(case, scaled)
