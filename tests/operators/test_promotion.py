"""PyTorch's type promotion: tensors, 0-d tensors and Python numbers have different weights."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import functools

import pytest
import torch

from tests.operators.check import Case, check, check_together, table
from tests.operators.inputs import bools, complexes, floats, ints, of, scalar

DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
]


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@pytest.mark.parametrize("left", DTYPES, ids=_name)
def test_tensor_with_tensor(left: torch.dtype) -> None:
    def function(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return a + b, a * b, a < b, torch.maximum(a, b)

    pairs = [(of(0, 1, 3).to(left), of(1, 1, 2).to(right)) for right in DTYPES]
    check_together([Case(function, pair, dynamic=False) for pair in pairs])


@pytest.mark.parametrize("left", DTYPES, ids=_name)
def test_tensor_with_zero_dimensional(left: torch.dtype) -> None:
    def function(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return a + b, b * a, a / b, a == b

    pairs = [(of(0, 1, 3).to(left), scalar(2).to(right)) for right in DTYPES]
    check_together([Case(function, pair, dynamic=False) for pair in pairs])


@pytest.mark.parametrize("dtype", DTYPES, ids=_name)
def test_tensor_with_number(dtype: torch.dtype) -> None:
    def function(a: torch.Tensor, number: float) -> tuple[torch.Tensor, ...]:
        # torch.export takes bool**True for int64, which it is not.
        power = a if number is True and dtype == torch.bool else a**number
        return a + number, a * number, number / a, a < number, power

    with_each = [functools.partial(function, number=number) for number in (True, 2, 2.5)]
    check_together([Case(each, (of(1, 2, 3).to(dtype),), dynamic=False) for each in with_each])


@pytest.mark.parametrize("dtype", DTYPES, ids=_name)
def test_reductions_and_integer_inputs(dtype: torch.dtype) -> None:
    def function(a: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return a.sum(), a.prod(), a.cumsum(0), a.any(), a.all(), a.amax(0)

    check(Case(function, (of(1, 2, 3).to(dtype),), dynamic=False))


@table(
    (lambda x, y: torch.cat([x, y]), ints(3), floats(2)),
    (lambda x, y: torch.cat([x, y]), bools(3), ints(2, dtype=torch.uint8)),
    (lambda x, y: torch.stack([x, y]), floats(3), floats(3, dtype=torch.float64)),
    (lambda x, y: torch.cat([x, y]), ints(3, dtype=torch.int8), ints(2, dtype=torch.uint8)),
    (lambda x: torch.mean(x, dtype=torch.float64), ints(4)),
    (lambda x: torch.sum(x, dtype=torch.float32), bools(4)),
    (lambda x: torch.prod(x, dtype=torch.int32), ints(4)),
    (lambda x: torch.sqrt(x), ints(4, low=0)),
    (lambda x: torch.sqrt(x), ints(4, low=0, dtype=torch.int8)),
    (lambda x: torch.sin(x), bools(4)),
    (lambda x: torch.exp(x), ints(4, dtype=torch.uint8, low=0)),
    (lambda x, y: torch.atan2(x, y), ints(4), ints(4, seed=9)),
    (lambda x, y: torch.true_divide(x, y), bools(4), of(True, True, True, True)),
    (lambda x: torch.softmax(x, 0, dtype=torch.float64), floats(4)),
    (lambda x: torch.softmax(x.to(torch.int64).float(), 0), floats(4)),
    (lambda x: torch.cumsum(x, 0, dtype=torch.float32), ints(4)),
    (lambda x: x.new_tensor([1, 2]) + x[:2], floats(4)),
    (lambda x: x + torch.tensor(1.5, dtype=torch.float64), floats(4)),
    (lambda x: x + torch.tensor([1.5], dtype=torch.float64), floats(4)),
    (lambda x: x * torch.tensor(2), floats(4, dtype=torch.float16)),
    (lambda x: torch.where(x > 0, torch.tensor(1.0, dtype=torch.float64), x), floats(4)),
    (lambda x: x + 1j, floats(4)),
    (lambda x, y: x * y, complexes(3), floats(3)),
    (lambda x, y: x + y, complexes(3), ints(3)),
    (lambda x: torch.result_type(x, 1.5) == torch.float32 and x + 1.5, ints(4)),
    (
        lambda x, y: (
            torch.promote_types(x.dtype, y.dtype) == torch.float32 and x.to(torch.float32) + y
        ),
        floats(3, dtype=torch.float16),
        floats(3),
    ),
    (lambda x, y: torch.addcmul(x, y, y), floats(3), floats(3, dtype=torch.float64)),
    (lambda x: x.clone().add_(2), floats(3, dtype=torch.float16)),
    (lambda x: x.clone().mul_(2.5), floats(3, dtype=torch.float16)),
    (lambda x, y: x.clone().add_(y), floats(3, dtype=torch.float16), floats(3)),
    (lambda x, y: x.clone().mul_(y), floats(3), ints(3)),
    (lambda x: torch.full_like(x, 2.7), ints(3)),
    (lambda x: torch.full((2,), 3), floats(3)),
    (lambda x: torch.full((2,), 3.5), floats(3)),
    (lambda x: torch.full((2,), True), floats(3)),
    (lambda x: torch.arange(3) + x, floats(3)),
    (lambda x: torch.arange(0, 3, 0.5) + x[:1], floats(3)),
    (lambda x: torch.linspace(0, 1, 5) * x[:1], floats(3)),
)
def test_promotion(case: Case) -> None:
    check(case)
