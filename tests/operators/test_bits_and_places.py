"""Shifts, divisors, parts of numbers, distances, diagonals, places and bags."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import torch
from torch.nn import functional as F

from tests.operators.check import Case, check, table
from tests.operators.inputs import (
    INF,
    NAN,
    bools,
    extremes,
    floats,
    ints,
    of,
    pairs_of_specials,
    scalar,
    specials,
)

SHIFTS = of(0, 1, 3, 31, 62, 63, 64, -1).unsqueeze(1)


@table(
    (lambda x, n: x << n, extremes(torch.int64), SHIFTS),
    (lambda x, n: x >> n, extremes(torch.int64), SHIFTS),
    (lambda x, n: x << n, extremes(torch.int8), of(0, 1, 7, 8, -1).to(torch.int8).unsqueeze(1)),
    (lambda x, n: x >> n, extremes(torch.int8), of(0, 1, 7, 8, -1).to(torch.int8).unsqueeze(1)),
    (lambda x: x << 3, extremes(torch.uint8)),
    (lambda x: x >> 2, extremes(torch.int32)),
    (lambda x: torch.bitwise_left_shift(3, x), of(0, 1, 5)),
    (lambda x: torch.bitwise_right_shift(-9, x), of(0, 1, 5)),
    (lambda x: x & 6, extremes(torch.int16)),
    (lambda x: 6 ^ x, extremes(torch.int64)),
    (lambda x: x | True, bools(4)),
    (lambda x, y: torch.gcd(x, y), ints(4, 1), ints(5, seed=9)),
    (lambda x, y: torch.gcd(x, y), of(0, 0, 12, -18), of(0, 5, -18, 0)),
    (lambda x, y: torch.lcm(x, y), of(0, 0, 12, -18), of(0, 5, -18, 4)),
    (lambda x, y: torch.lcm(x, y), ints(6, dtype=torch.int32), ints(6, dtype=torch.int32, seed=9)),
    (lambda x: torch.frexp(x), specials()),
    (lambda x: torch.frexp(x), of(0.25, 0.5, 1.0, 2.0, 4.0, 1e-45, 3e38, 1.9999999)),
    (lambda x: torch.frexp(x), of(1e-320, 1e308, 5e-324, 0.1, 1 - 2**-53, dtype=torch.float64)),
    (lambda x: torch.frexp(x), floats(5, dtype=torch.float16)),
    (lambda x, y: torch.nextafter(x, y), *pairs_of_specials()),
    (lambda x, y: torch.nextafter(x, y), *pairs_of_specials(torch.float64)),
    (lambda x, y: torch.nextafter(x, y), *pairs_of_specials(torch.float16)),
    (lambda x, y: torch.nextafter(x, y) - x, of(1.0, 2.0, 1e-45, 3.4028235e38), scalar(0.0)),
    (lambda x, y: torch.nextafter(x, y), of(1.0, -2.0, 3.4028235e38, -1e-45), of(INF, 9, INF, 1)),
    (lambda x, y: torch.nextafter(x, y), of(1.0, 1.0, NAN), of(1.0, NAN, 1.0)),
    (lambda x: F.threshold(x, 1, 5), ints(6)),
    (lambda x: F.hardshrink(x, 0.5), specials()),
    (lambda x: F.softshrink(x, 0.5), specials()),
    (lambda x: F.celu(x, 1.7), specials()),
    (lambda x: F.celu(x, -1.5), floats(5)),
    (lambda x: F.selu(x), specials()),
    (lambda x: F.selu(x), specials(torch.float64)),
    (lambda x: F.rrelu(x, 0.1, 0.3), specials()),
    (lambda x: F.logsigmoid(x), specials()),
)
def test_numbers(case: Case) -> None:
    check(case)


@table(
    (lambda x, y: torch.cdist(x, y), floats(3, 4), floats(5, 4, seed=9)),
    (lambda x, y: torch.cdist(x, y), floats(2, 30, 4), floats(1, 27, 4, seed=9)),
    (
        lambda x, y: torch.cdist(x, y, compute_mode="use_mm_for_euclid_dist"),
        floats(3, 4),
        floats(2, 4, seed=9),
    ),
    (lambda x, y: torch.cdist(x, y, p=1), floats(3, 4), floats(5, 4, seed=9)),
    (lambda x, y: torch.cdist(x, y, p=0), floats(3, 2).round(), floats(5, 2, seed=9).round()),
    (lambda x, y: torch.cdist(x, y, p=INF), floats(3, 4), floats(5, 4, seed=9)),
    (lambda x, y: torch.cdist(x, y, p=2.5), floats(3, 4), floats(5, 4, seed=9)),
    (lambda x, y: torch.cdist(x, y), floats(0, 4), floats(5, 4)),
    (lambda x, y: torch.cdist(x, y), floats(3, 0), floats(5, 0)),
    (lambda x: F.pdist(x), floats(5, 3)),
    (lambda x: F.pdist(x, p=1.5), floats(4, 3)),
    (lambda x: F.pdist(x), floats(1, 3)),
    (lambda x, y: F.pairwise_distance(x, y), floats(3, 4), floats(4, seed=9)),
    (lambda x, y: F.pairwise_distance(x, y, p=1, keepdim=True), floats(3, 4), floats(3, 4)),
    (
        lambda x, y: F.pairwise_distance(x, y),
        of([3, 9], dtype=torch.uint8),
        of([5, 2], dtype=torch.uint8),
    ),
    (lambda x, y: F.cosine_similarity(x, y), floats(3, 4), floats(3, 4, seed=9)),
    (lambda x, y: F.cosine_similarity(x, y, dim=-1), floats(2, 1, 4), floats(3, 4, seed=9)),
    (lambda x, y: F.cosine_similarity(x, y, dim=0), floats(4), floats(4) * 0),
    (lambda x, y: F.cosine_similarity(x, y, dim=0), floats(4), scalar(2.0)),
    (lambda x, y: torch.dist(x, y), floats(3, 4), floats(4, seed=9)),
    (lambda x, y: torch.dist(x, y, p=INF), floats(3), of(NAN, 1.0, 2.0)),
    (lambda x, y: torch.dist(x, y, p=0), floats(3), floats(3)),
    (lambda a, p, n: F.triplet_margin_loss(a, p, n), *(floats(3, 4, seed=s) for s in (1, 2, 3))),
    (
        lambda a, p, n: F.triplet_margin_loss(a, p, n, swap=True, reduction="none"),
        *(floats(3, 4, seed=s) for s in (1, 2, 3)),
    ),
    (lambda x, y: torch.kron(x, y), floats(2, 3), floats(4, seed=9)),
    (lambda x, y: torch.kron(x, y), ints(2, 3), ints(3, 2)),
    (lambda x, y: torch.tensordot(x, y, dims=2), floats(2, 3, 4), floats(3, 4, 5)),
    (lambda x, y: torch.tensordot(x, y, dims=([1, 0], [0, 1])), ints(2, 3), ints(3, 2, 4)),
    (lambda x, y: torch.tensordot(x, y, dims=0), floats(2), floats(3)),
    (lambda x, y: torch.linalg.cross(x, y), floats(4, 3), floats(1, 3, seed=9)),
    (lambda x, y: torch.linalg.cross(x, y, dim=0), ints(3, 4), ints(3, 4, seed=9)),
    (lambda x, y: torch.cross(x, y), floats(3, 5), floats(3, 5, seed=9)),
    (
        lambda x, y: torch.ops.aten._trilinear(x, y, x, [], [1], [], [1]),
        floats(2, 3, 4),
        floats(2, 4),
    ),
    # An axis that all three have anew is of no elements.
    (lambda x: torch.ops.aten._trilinear(x, x, x, [1], [1], [1], [1]), floats(2, 3)),
    (lambda x: torch.ops.aten._trilinear(x, x, x, [1], [1], [1], []), floats(2, 3)),
    (lambda x, y, w: F.bilinear(x, y, w), floats(2, 3), floats(2, 4), floats(5, 3, 4)),
    (
        lambda x, y, w, b: F.bilinear(x, y, w, b),
        *(floats(3), floats(4), floats(5, 3, 4), floats(5)),
    ),
)
def test_distances_and_products(case: Case) -> None:
    check(case)


@table(
    (lambda x: torch.diag(x), of(1.0, INF, NAN)),
    (lambda x: torch.diag(x, 2), ints(3)),
    (lambda x: torch.diag(x, -1), floats(3)),
    (lambda x: torch.diag(x, 1), floats(3, 4)),
    (lambda x: torch.diag(x, -2), floats(4, 3)),
    (lambda x: torch.diag(x, 5), floats(3, 4)),
    (lambda x: torch.diag_embed(x), floats(2, 3)),
    (lambda x: torch.diag_embed(x, offset=1, dim1=0, dim2=2), floats(2, 3)),
    (lambda x: torch.diag_embed(x, offset=-2, dim1=2, dim2=0), bools(2, 3)),
    (lambda x: torch.diagflat(x, -1), floats(2, 2)),
    (lambda x: torch.diagflat(x), scalar(3.0)),
    (lambda x, y, z: torch.block_diag(x, y, z), floats(2, 3), floats(4), scalar(2.0)),
    (lambda x, y: torch.block_diag(x, y), ints(2, 1), floats(1, 2)),
    (lambda x: torch.vander(x), of(2.0, -1.0, 0.0, 3.0)),
    (lambda x: torch.vander(x, 3, increasing=True), ints(5)),
    (lambda x: torch.linalg.vander(x, N=2), floats(2, 3)),
    (lambda x: x + torch.tril_indices(3, 4, 1), scalar(0)),
    (lambda x: x + torch.triu_indices(3, 4, -1, dtype=torch.int32), scalar(0, torch.int32)),
    (lambda x: x + torch.tril_indices(2, 3, -5), scalar(0)),
    (lambda x, y: torch.cartesian_prod(x, y), floats(3), floats(2)),
    (lambda x: torch.cartesian_prod(x), floats(3)),
    (lambda x, i: torch.take(x, i), floats(3, 4), of([0, -1], [5, -12])),
    (lambda x, i: torch.take(x, i), scalar(2.0), of(0, -1)),
    (lambda x, i, s: torch.put(x, i, s), floats(3, 4), of(0, -1, 5), floats(3)),
    (lambda x, i, s: torch.put(x, i, s, accumulate=True), floats(6), of(1, 1, -1), floats(3)),
    (lambda x, i, s: torch.put(x, i, s, accumulate=True), ints(6), of([1, 1]), ints(1, 2)),
    (lambda x, i: torch.take_along_dim(x, i, 1), floats(3, 4), of([0, -1])),
    (lambda x, i: torch.take_along_dim(x, i), floats(3, 4), of([0, 7])),
    (lambda x: torch.take_along_dim(x, x.argsort(0), 0), floats(3, 4)),
    (lambda x: torch.rot90(x), floats(2, 3)),
    (lambda x: torch.rot90(x, 2, (0, 2)), floats(2, 3, 4)),
    (lambda x: torch.rot90(x, -1, (2, 1)), floats(2, 3, 4)),
    (lambda x: torch.rot90(x, 4), floats(2, 3)),
    (lambda x: torch.fliplr(x), floats(2, 3)),
    (lambda x: torch.flipud(x), ints(3)),
    (lambda x, n: torch.repeat_interleave(x, n, dim=0), floats(4, 2), of(0, 2, 0, 3)),
    (lambda x, n: torch.repeat_interleave(x, n, dim=1), floats(2, 3), of(2)),
    (lambda x, n: torch.repeat_interleave(x, n), ints(2, 2), of(1, 0, 0, 0)),
    (lambda x, n: torch.repeat_interleave(x, n, output_size=5), floats(3), of(1, 4, 0)),
    (lambda n: torch.repeat_interleave(n), of(2, 0, 1)),
    (lambda n: torch.repeat_interleave(n), of(0, 0)),
    (lambda x: torch.renorm(x, 2, 0, 1.0), floats(3, 4)),
    (lambda x: torch.renorm(x, 1, -1, 0.5), floats(3, 4)),
)
def test_places(case: Case) -> None:
    check(case)


TABLE = floats(7, 3)
BAGS = of(0, 2, 2, 5)
ROWS = of(1, 6, 0, 0, 3, 5, 2)


@table(
    (lambda i, o, w: F.embedding_bag(i, w, o, mode="sum"), ROWS, BAGS, TABLE),
    (lambda i, o, w: F.embedding_bag(i, w, o, mode="mean"), ROWS, BAGS, TABLE),
    (lambda i, o, w: F.embedding_bag(i, w, o, mode="max"), ROWS, BAGS, TABLE),
    (lambda i, w: F.embedding_bag(i, w), ROWS[:6].reshape(3, 2), TABLE),
    (lambda i, o, w: F.embedding_bag(i, w, o, padding_idx=0), ROWS, BAGS, TABLE),
    (lambda i, o, w: F.embedding_bag(i, w, o, padding_idx=-7, mode="max"), ROWS, BAGS, TABLE),
    (
        lambda i, o, w: F.embedding_bag(i, w, o, include_last_offset=True),
        *(ROWS, of(0, 2, 2, 7), TABLE),
    ),
    # A last offset that is not the number of indices.
    (
        lambda i, o, w: F.embedding_bag(i, w, o, mode="sum", include_last_offset=True),
        *(ROWS, of(0, 2, 4), TABLE),
    ),
    (
        lambda i, o, w: F.embedding_bag(i, w, o, include_last_offset=True),
        *(ROWS, of(0, 2, 4), TABLE.half()),
    ),
    (
        lambda i, o, w: F.embedding_bag(i, w, o, include_last_offset=True),
        *(ROWS, of(0, 2, 4), TABLE.double()),
    ),
    (
        lambda i, o, w, s: F.embedding_bag(i, w, o, mode="sum", per_sample_weights=s),
        *(ROWS, BAGS, TABLE, floats(7)),
    ),
    (
        lambda i, o, w: F.embedding_bag(i, w, o, mode="sum", include_last_offset=True),
        *(ROWS, BAGS, TABLE),
    ),
    (lambda i, o, w: F.embedding_bag(i, w, o, include_last_offset=True), ROWS, BAGS, TABLE.half()),
    (
        lambda i, o, w: F.embedding_bag(i, w, o, include_last_offset=True, padding_idx=0),
        *(ROWS, BAGS, TABLE),
    ),
    (
        lambda i, o, w: F.embedding_bag(i, w, o, include_last_offset=True),
        *(ROWS, BAGS, TABLE.double()),
    ),
    # With what is kept for the gradient.
    (lambda i, o, w: torch.ops.aten.embedding_bag(w, i, o)[1], ROWS, BAGS, TABLE),
    (lambda i, o, w: torch.ops.aten.embedding_bag(w, i, o), ROWS, BAGS, TABLE),
    (lambda i, o, w: torch.ops.aten.embedding_bag(w, i, o, mode=1), ROWS, BAGS, TABLE),
    (lambda i, o, w: torch.ops.aten.embedding_bag(w, i, o, mode=2)[:3], ROWS, BAGS, TABLE),
    (lambda i, o, w: torch.ops.aten._embedding_bag(w, i, o, padding_idx=0), ROWS, BAGS, TABLE),
    (
        lambda i, o, w: torch.ops.aten._embedding_bag(w, i, o, mode=1, padding_idx=0),
        *(ROWS, BAGS, TABLE),
    ),
)
def test_bags(case: Case) -> None:
    check(case)
