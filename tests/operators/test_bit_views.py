"""The bits of tensors read as another type."""

from __future__ import annotations

import torch

from tests.operators.check import Case, check, table
from tests.operators.inputs import bools, extremes, floats, ints, specials


@table(
    (lambda x: x.view(torch.uint8), extremes(torch.int8)),
    (lambda x: x.view(torch.int8), extremes(torch.uint8)),
    (lambda x: x.view(torch.uint8), bools(3, 4)),
    (lambda x: x.view(torch.int32), ints(3, 4)),
    (lambda x: x.view(torch.uint8), extremes(torch.int64)),
    (lambda x: x.view(torch.int16), extremes(torch.int32)),
    (lambda x: x.view(torch.int64), ints(3, 4, dtype=torch.int32)),
    (lambda x: x.view(torch.int32), ints(2, 8, low=0, high=256, dtype=torch.uint8)),
)
def test_integers(case: Case) -> None:
    check(case)


@table(
    (lambda x: x.view(torch.int32), specials()),
    (lambda x: x.view(torch.float32), ints(3, 4, dtype=torch.int32)),
    (lambda x: x.view(torch.int64), specials(torch.float64)),
    (lambda x: x.view(torch.int16), specials(torch.float16)),
    (lambda x: x.view(torch.int16), specials(torch.bfloat16)),
    (lambda x: x.view(torch.bfloat16), floats(3, 4, dtype=torch.float16)),
    (lambda x: x.view(torch.uint8), floats(3, 4)),
    (lambda x: x.view(torch.float32), ints(2, 8, low=0, high=100, dtype=torch.uint8)),
    (lambda x: x.view(torch.bfloat16), floats(3, 4)),
)
def test_floats(case: Case) -> None:
    check(case, opset=26)
