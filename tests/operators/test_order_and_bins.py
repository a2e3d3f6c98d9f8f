"""Ranks, bins, runs and scans: NaN, equal elements, empty and 0-d tensors, lengths of 1."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import torch

from tests.operators.check import Case, check, table
from tests.operators.inputs import INF, NAN, bools, extremes, floats, ints, of, scalar

TIED = of([2, 1, 2, 0], [1, 1, 1, 3])
BYTES = ints(3, 4, low=0, high=250, dtype=torch.uint8)
WITH_NAN = of([3.0, NAN, 1.0, -INF, NAN, INF], [2.0, 0.0, 1.0, 5.0, -1.0, 4.0])
RUNS = of([1, 1, 2], [1, 1, 2], [3, 0, 0])


@table(
    (lambda x: torch.median(x), floats(7)),
    (lambda x: torch.median(x), floats(2, 4)),
    (lambda x: torch.median(x), WITH_NAN),
    (lambda x: torch.median(x), floats(0)),
    (lambda x: torch.median(x), scalar(2.0)),
    (lambda x: torch.median(x, 1), WITH_NAN),
    (lambda x: torch.median(x, 0, keepdim=True), floats(5, 3)),
    (lambda x: torch.median(x, -1).values, ints(3, 6)),
    (lambda x: torch.median(x, 0), scalar(2.0)),
    (lambda x: torch.nanmedian(x), WITH_NAN),
    (lambda x: torch.nanmedian(x), of(NAN, NAN)),
    (lambda x: torch.nanmedian(x, 1), WITH_NAN),
    (lambda x: torch.nanmedian(x, 1).values, ints(3, 4)),
    (lambda x: torch.kthvalue(x, 6, 1).values, WITH_NAN),
    (lambda x: torch.kthvalue(x, 4, 1), WITH_NAN),
    (lambda x: torch.kthvalue(x, x.shape[1] // 2, 1).values, ints(3, 6)),
    (lambda x: torch.mode(x, 1).values, of([1.0, 3.0, 3.0], [2.0, 2.0, 1.0])),
    (lambda x: torch.mode(x).values, bools(2, 5)),
    (lambda x: torch.mode(x, 0, keepdim=True).values, ints(6, 2, low=0, high=3)),
    (lambda x: torch.msort(x), WITH_NAN),
    (lambda x: torch.quantile(x, 0.3), floats(7)),
    (lambda x: torch.quantile(x, 0.3, dim=0, keepdim=True), floats(4, 3)),
    (lambda x: torch.quantile(x, torch.tensor([0.0, 0.4, 1.0]), dim=1), WITH_NAN),
    (lambda x: torch.quantile(x, torch.tensor([0.1, 0.5]), dim=1, keepdim=True), floats(2, 5, 3)),
    (lambda x: torch.quantile(x, 0.5, interpolation="midpoint"), floats(6)),
    (lambda x: torch.quantile(x, 0.37, 1, interpolation="nearest"), floats(2, 6)),
    (lambda x: torch.quantile(x, 0.37, 1, interpolation="lower"), floats(2, 6)),
    (lambda x: torch.quantile(x, 0.37, 1, interpolation="higher"), floats(2, 6)),
    (lambda x, q: torch.quantile(x, q), floats(9, dtype=torch.float64), scalar(0.25).double()),
    (lambda x: torch.nanquantile(x, 0.4, dim=1), WITH_NAN),
    (lambda x: torch.nanquantile(x, torch.tensor([0.2, 0.9])), of(NAN, NAN)),
)
def test_ranks(case: Case) -> None:
    check(case)


@table(
    (lambda s, x: torch.searchsorted(s, x), of(1.0, 2.0, 2.0, NAN), of(2.0, NAN, INF, -INF)),
    (lambda s, x: torch.searchsorted(s, x, right=True), of(1.0, 2.0, 2.0), of(2.0, NAN, INF)),
    (lambda s, x: torch.searchsorted(s, x), floats(0), floats(3)),
    (lambda s, x: torch.searchsorted(s, x), floats(5).sort().values, floats(0)),
    (lambda s, x: torch.searchsorted(s, x), ints(2, 3, 4).sort().values, ints(2, 3, 2)),
    (lambda s, x: torch.bucketize(x, s, out_int32=True), floats(9).sort().values, scalar(0.1)),
    (lambda s: torch.bucketize(3, s), of(1, 3, 5)),
    (lambda x, y: torch.isin(x, y), of(1.0, NAN, 2.0), of(NAN, 2.0)),
    (lambda x, y: torch.isin(x, y), ints(3, 4), ints(0)),
    (lambda x: torch.isin(2, x), ints(4)),
    (lambda x, y: torch.isin(x, y, invert=True), ints(3), floats(2).round()),
    (lambda x: torch.unique(x), of(2.0, NAN, 1.0, NAN, 2.0, INF, -INF)),
    (lambda x: torch.unique(x, return_inverse=True, return_counts=True), floats(0)),
    (lambda x: torch.unique(x, return_counts=True), scalar(3.0)),
    (lambda x: torch.unique(x, return_inverse=True), extremes(torch.int8)),
    (lambda x: torch.unique(x, dim=0, return_inverse=True, return_counts=True), RUNS),
    (lambda x: torch.unique(x, dim=-1, return_counts=True), of([2.0, 1.0, 2.0], [0.0, 5.0, 0.0])),
    (lambda x: torch.unique(x, dim=1), ints(2, 5, 2, low=0, high=2)),
    (lambda x: torch.unique_consecutive(x, dim=0), RUNS),
    (lambda x: torch.unique_consecutive(x, True, True, dim=1), RUNS),
    (lambda x: torch.unique_consecutive(x, True, True), of(NAN, NAN, 1.0, 1.0)),
    (lambda x: torch.bincount(x), ints(0, low=0, high=4)),
    (lambda x: torch.bincount(x, minlength=3), ints(9, low=0, high=7)),
    (lambda x, w: torch.bincount(x, w), of(0, 3, 3, 1), ints(4)),
    (lambda x: torch.histc(x, 4), of(1.0, 1.0)),
    (lambda x: torch.histc(x, 3, 0, 1), of(NAN, 0.0, 1.0, 0.5, 1.5, -0.1)),
    (lambda x: torch.histc(x, 7, -1, 1), floats(200, dtype=torch.float64)),
    (lambda x: torch.histc(x, 10, 0, 1), (torch.arange(11) / 10)),
    (lambda x: torch.histc(x, 37, -1, 2), floats(200, dtype=torch.float16)),
    (lambda x: torch.histc(x, 100), floats(200, dtype=torch.bfloat16)),
)
def test_search(case: Case) -> None:
    check(case)


@table(
    (lambda x: torch.cumprod(x, 0), scalar(2.0)),
    (lambda x: torch.cumprod(x, 1), floats(2, 0)),
    (lambda x: torch.cumprod(x, 1), floats(3, 33)),
    (lambda x: torch.cumprod(x, 0), ints(5, dtype=torch.int8)),
    (lambda x: torch.cumprod(x, 0), bools(5)),
    (lambda x: torch.cumprod(x, 0, dtype=torch.float64), ints(5)),
    (lambda x: torch.cummax(x, 1), WITH_NAN),
    (lambda x: torch.cummin(x, 1), WITH_NAN),
    (lambda x: torch.cummax(x, 0), scalar(2.0)),
    (lambda x: torch.cummax(x, 1), floats(3, 1)),
    (lambda x: torch.cummin(x, 1), bools(2, 6)),
    (lambda x: torch.cummin(x, 0), ints(17, 2, dtype=torch.uint8, low=0)),
    (lambda x: torch.logcumsumexp(x, 1), WITH_NAN),
    (lambda x: torch.logcumsumexp(x, 0), of(INF, 1.0, -INF)),
    (lambda x: torch.logcumsumexp(x, 0), floats(9, dtype=torch.float16)),
    (lambda x: torch.logsumexp(x, 1), WITH_NAN),
    (lambda x: torch.logsumexp(x, (0, 1), keepdim=True), floats(3, 4) * 100),
    (lambda x: torch.logsumexp(x, 0), of(-INF, -INF)),
    (lambda x: torch.logsumexp(x, 0), of(INF, -INF)),
    (lambda x: torch.logsumexp(x, 1), floats(2, 0)),
    (lambda x: torch.logsumexp(x, 0), scalar(2.0)),
    (lambda x: torch.logsumexp(x, 0), ints(4)),
    (lambda x: torch.nansum(x), WITH_NAN[0, :3]),
    (lambda x: torch.nansum(x, 1, keepdim=True), WITH_NAN),
    (lambda x: torch.nansum(x), ints(4)),
    (lambda x: torch.nanmean(x, 0), WITH_NAN),
    (lambda x: torch.nanmean(x), of(NAN)),
    (lambda x: torch.count_nonzero(x), of(0.0, -0.0, NAN, 2.0)),
    (lambda x: torch.count_nonzero(x, dim=1), ints(3, 4)),
    (lambda x: torch.count_nonzero(x, dim=(0, 1)), bools(3, 4)),
    (lambda x: torch.count_nonzero(x), floats(0)),
    (lambda x: torch.trapezoid(x, dx=0.5, dim=0), ints(4, 3)),
    (lambda x: torch.trapezoid(x), floats(3, 1)),
    (lambda y, x: torch.trapezoid(y, x, dim=1), floats(2, 4), floats(4).sort().values),
    (lambda y, x: torch.cumulative_trapezoid(y, x), floats(2, 4), floats(2, 4).sort().values),
    (lambda x: torch.trapezoid(x, dx=2.5), BYTES),
    (lambda y, x: torch.trapezoid(y, x), BYTES, BYTES.flip(0)),
    (lambda y, x: torch.trapezoid(y, x), BYTES, floats(4)),
    (lambda x: torch.trapezoid(x), ints(2, 0)),
    (lambda x: torch.cumulative_trapezoid(x, dx=2.5), BYTES),
    (lambda y, x: torch.cumulative_trapezoid(y, x), BYTES, BYTES.flip(0)),
    (lambda x: torch.gradient(x, edge_order=2), floats(5)),
    (lambda x: torch.gradient(x, dim=(0, 1), spacing=(2.0, 0.5)), floats(4, 3)),
    (lambda x, p: torch.gradient(x, spacing=(p,), dim=1), floats(3, 4), of(0.0, 1.0, 3.0, 3.5)),
    (lambda x, p: torch.gradient(x, spacing=(p,), edge_order=2), floats(4), of(0.0, 1.0, 3.0, 3.5)),
)
def test_scans_and_sums(case: Case) -> None:
    check(case)
