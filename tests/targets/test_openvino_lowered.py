"""Programs of what OpenVINO gets wrong, lowered for it: they come out right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch.nn import functional

from tests.harness.comparison import difference

from .openvino import Session
from .programs import exported

BYTES = torch.tensor([100, -100, 7, 127], dtype=torch.int8)
GREAT = torch.tensor([2**24, 2**24 + 1, 2**31 - 1, -(2**30) - 1])
NEAR = torch.tensor([2**24 + 1, 2**24 + 1, 7, 10])
IMAGE = torch.randn(2, 3, 7, 6, generator=torch.Generator().manual_seed(0))


def scaled(x: torch.Tensor) -> torch.Tensor:
    scales, zeros = torch.tensor([0.02, 0.03, 0.01]), torch.zeros(3, dtype=torch.int64)
    quantized: torch.Tensor = torch.ops.quantized_decomposed.quantize_per_channel(
        x, scales, zeros, 1, -128, 127, torch.int8
    )
    return quantized


CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], int]] = {
    "bytes": (lambda a, b: (a + b, a - b, a * b, -a, a.abs()), (BYTES, BYTES.flip(0)), 0),
    "quotients": (lambda a, b: torch.div(a, b, rounding_mode="trunc"), (BYTES, BYTES.flip(0)), 0),
    "comparisons": (
        lambda a, b: (a == b, a != b, a < b, a <= b, a > b, a >= b),
        (GREAT, NEAR),
        0,
    ),
    "antialias": (
        lambda x: functional.interpolate(x, (4, 3), mode="bilinear", antialias=True),
        (IMAGE,),
        0,
    ),
    "mean of windows": (lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True), (IMAGE,), 0),
    "maximum of windows": (
        lambda x: functional.max_pool2d(x[:, :, 2:], 2, 2, 1, ceil_mode=True),
        (IMAGE,),
        0,
    ),
    "maximum at any size": (
        lambda x: functional.max_pool2d(x, 3, 2, 1, ceil_mode=True),
        (IMAGE,),
        2,
    ),
    "scales": (scaled, (IMAGE,), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_openvino_gets_it_right(name: str) -> None:
    function, args, axis = CASES[name]
    program = exported("openvino", function, *args, axis=axis)
    results = function(*args)
    expected = results if isinstance(results, tuple) else (results,)
    actual = Session(program.model_proto.SerializeToString()).run(args)
    for got, want in zip(actual, expected, strict=True):
        assert difference(got, want) is None
