"""Operators that older opsets lack, or have for fewer cases, and what stands for them.

Opset 13 has no scatter that combines, 16 none of extremes; bitwise operators come with 18,
TensorScatter with 24, CumProd with 26.
"""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from tests.operators.check import Case, check, table, uncapturable
from tests.operators.inputs import NAN, extremes, floats, ints, of

X = floats(4, 5)
V = floats(3, 5, seed=11)
AT = of([0, 1, 2, 3, 0], [1, 1, 1, 1, 1], [0, 0, 3, 3, 2])
TWICE = of(1, 1, 2)
LENGTHS = of(1, 2, 0, 1)
# What torch.export says where sizes vary.
NO_FAKE = "UnsupportedOperatorException: aten.histogram.bin_ct"
LARGE = of([3, -7, 2**40], [-(2**40), 5, 2**31])


@pytest.mark.parametrize("opset", [13, 17])
@table(
    # sums, products and extremes of what an index brings together
    (lambda x, v: x.scatter_add(0, AT, v), X, V),
    (lambda x, v: x.scatter_add(1, AT, v), X.half(), V.half()),
    (lambda x, v: x.scatter_add(1, AT, v), X.bfloat16(), V.bfloat16()),
    (lambda x, v: x.scatter(0, AT, v, reduce="multiply"), X, V),
    (lambda x, v: x.scatter_reduce(0, AT, v, "sum"), X, V),
    (lambda x, v: x.scatter_reduce(0, AT, v, "prod", include_self=False), X, V),
    (lambda x, v: x.scatter_reduce(0, AT, v, "mean"), X.half(), V.half()),
    (lambda x, v: x.scatter_reduce(1, AT, v, "amax"), X, V.masked_fill(AT == 2, NAN)),
    (lambda x, v: x.scatter_reduce(1, AT, v, "amin", include_self=False), X, V),
    (lambda x, v: x.scatter_reduce(0, AT, v, "amax"), ints(4, 5), ints(3, 5, seed=11)),
    (lambda x, v: x.index_add(0, TWICE, v), X, V),
    (lambda x, v: x.index_add(0, TWICE, v, alpha=2), X.bfloat16(), V.bfloat16()),
    (lambda x, v: x.index_add(1, of(0, 4), v[:, :2]), floats(3, 5), V),
    (lambda x, v: x.index_reduce(0, TWICE, v, "prod"), X, V),
    (lambda x, v: x.index_put((TWICE,), v, accumulate=True), X, V),
    (lambda x, v: x.index_put((TWICE, of(0, 0, -1)), v[:, 0], accumulate=True), X, V),
    (lambda x, v: x.put(TWICE, v[0, :3], accumulate=True), X, V),
    (lambda x: torch.histc(x, 5, -1, 1), X),
    (lambda x: torch.bincount(x, minlength=3), of(1, 2, 2, 9)),
    (lambda x, w: torch.bincount(x, w), of(1, 2, 2, 9), floats(4)),
    uncapturable(NO_FAKE, lambda x: torch.histogram(x, 4)[0], X),
    (lambda x: x.mode(1), ints(4, 9)),
    (lambda x: torch.unique(x, return_inverse=True, return_counts=True), ints(9)),
    (lambda x: torch.unique(x, dim=0), ints(9, 2)),
    (lambda x, n: x.repeat_interleave(n, 0), X, LENGTHS),
    (lambda x: torch.segment_reduce(x, "sum", lengths=LENGTHS, unsafe=True), X),
    (lambda x: torch.segment_reduce(x, "mean", lengths=LENGTHS, unsafe=True), X),
    (lambda x: torch.segment_reduce(x, "max", lengths=LENGTHS, unsafe=True), X),
    (lambda x: functional.embedding_bag(of(0, 1, 3, 2), x, of(0, 1)), X),
    (lambda x: functional.embedding_bag(of(0, 1, 3, 2), x, of(0, 1), mode="max"), X),
    (lambda x: torch.ops.aten.reflection_pad2d_backward(
        functional.pad(x, (1, 2, 1, 1), mode="reflect"), x, (1, 2, 1, 1)
    ), floats(1, 4, 5)),
    (lambda x: torch.ops.aten.unfold_backward(x, [4, 6], 1, 3, 1), floats(4, 4, 3)),
    # bits
    (lambda a, b: (a & b, a | b, a ^ b, ~a), extremes(torch.int8), extremes(torch.int8).flip(0)),
    (lambda a, b: (a & b, a | b, a ^ b, ~a), extremes(torch.uint8), extremes(torch.uint8).flip(0)),
    (lambda a, b: (a & b, a | b, a ^ b, ~a), extremes(torch.int16), extremes(torch.int16).flip(0)),
    (lambda a, b: (a & b, a | b, a ^ b, ~a), extremes(torch.int32), extremes(torch.int32).flip(0)),
    (lambda a, b: (a & b, a | b, a ^ b, ~a), extremes(torch.int64), extremes(torch.int64).flip(0)),
    (lambda a: (a & 0x0F, a | -2, a ^ -1), LARGE),
    (lambda a: torch.hash_tensor(a), LARGE),
    # running products
    (lambda x: (x.cumprod(0), x.cumprod(-1)), X),
    (lambda x: x.cumprod(1), LARGE),
    (lambda x: x.cumprod(0), floats(0, 3)),
    # integers of 64 bits
    (lambda x: (x.amax(1), x.amin(0), x.max(), x.amax((0, 1), keepdim=True)), LARGE),
    (lambda x: (x.sum(), x.sum(0), x.sum(1, keepdim=True), x.prod(), x.prod(0)), LARGE),
    (lambda x: (torch.maximum(x, x.flip(1)), x.clamp(-4, 2**33), x.relu(), x.sign()), LARGE),
    (lambda x: (torch.fmod(x, 7), torch.remainder(x, 7)), LARGE),
    # kinds of numbers
    (lambda x: (x.isnan(), x.isinf(), x.isposinf(), x.isneginf()), of(1, NAN, -torch.inf).half()),
    (lambda x: (x.isnan(), x.isinf(), x.isposinf(), x.isneginf()), of(1, NAN, torch.inf).double()),
)  # fmt: skip
def test_spelt_out(case: Case, opset: int) -> None:
    check(case, opset=opset)


@pytest.mark.parametrize("opset", [13, 23, 24])
def test_slices_beside_each_other(opset: int) -> None:
    """What a cache is written with: TensorScatter from opset 24 on."""
    cache, new = floats(2, 3, 8, 4), floats(2, 3, 1, 4, seed=11)
    case = Case(
        lambda c, n, start: c.index_copy(2, torch.arange(1) + start, n),
        (cache, new, of(3)),
        dynamic=False,
    )
    check(case, opset=opset)
