"""Integers of 64 bits of which ONNX Runtime's kernels see fewer: a test a rule."""

from __future__ import annotations

import numpy as np

from tests.targets import alone

BEYOND_DOUBLE = np.int64(2**53 + 1)


def integers(*elements: int) -> np.ndarray:
    return np.array(elements, np.int64)


def test_max_of_int64() -> None:
    zeros, others = integers(*[0] * 8), integers(*[2**31] * 8)
    assert (alone.run("Max", zeros, others) != 2**31).any()


def test_min_of_int64() -> None:
    zeros, others = integers(*[0] * 8), integers(*[2**31] * 8)
    assert (alone.run("Min", zeros, others) != 0).any()


def test_clip_of_int64() -> None:
    x = integers(*[0] * 8)
    held = alone.run("Clip", x, np.array(-10), np.array(2**31))
    assert (held != 0).any()


def test_sign_of_int64() -> None:
    assert (alone.run("Sign", integers(2**31, 2**33 + 5)) != 1).any()


def test_greatest_of_int64() -> None:
    x = integers(*[2**31] * 8, *[0] * 8)
    assert alone.run("ReduceMax", x, integers(0), keepdims=0) != 2**31


def test_least_of_int64() -> None:
    x = integers(*[2**31] * 8, *[0] * 8)
    assert alone.run("ReduceMin", x, integers(0), keepdims=0) != 0


def test_sum_of_int64() -> None:
    x = integers(2**53, 1)
    assert alone.run("ReduceSum", x, integers(0), keepdims=0) != BEYOND_DOUBLE


def test_product_of_int64() -> None:
    x = integers(2**53 + 1, 1)
    assert alone.run("ReduceProd", x, integers(0), keepdims=0) != BEYOND_DOUBLE


def test_remainder_of_int64() -> None:
    rest = alone.run("Mod", integers(2**53 + 1), integers(2), fmod=1)
    assert rest.tolist() != [1]
