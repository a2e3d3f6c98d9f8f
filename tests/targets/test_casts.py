"""Casts of floating numbers of 8 bits, and casts of casts: a test a rule."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper

import sardonyx
from tests.targets import alone


def through_float8(x: np.ndarray, to: int, **attributes: int) -> np.ndarray:
    """Cast to float8e5m2, and from that to another type."""
    nodes = [
        helper.make_node("Cast", ["x"], ["small"], to=TensorProto.FLOAT8E5M2, **attributes),
        helper.make_node("Cast", ["small"], ["y"], to=to),
    ]
    session = alone.session_of(alone.model_of(nodes, {"x": x}, {"y": to}))
    return session.run(None, {"x": x})[0]


def test_truth_of_float8() -> None:
    zeros = np.array([-0.0, 0.0], np.float32)
    assert through_float8(zeros, TensorProto.BOOL).tolist() == [True, False]


def test_float8_infinity() -> None:
    large = np.array([61440, 65504, -1e9, np.inf, 57344], np.float32)
    found = through_float8(large, TensorProto.FLOAT, saturate=0)
    assert np.isnan(found[:3]).any()
    assert found[3:].tolist() == [np.inf, 57344]


def test_cast_of_cast() -> None:
    def cast_twice(x: np.ndarray, between: int, to: int) -> list[int]:
        nodes = [
            helper.make_node("Cast", ["x"], ["between"], to=between),
            helper.make_node("Cast", ["between"], ["y"], to=to),
        ]
        session = alone.session_of(alone.model_of(nodes, {"x": x}, {"y": to}))
        return session.run(None, {"x": x})[0].tolist()

    x = np.array([7, 3e9], np.float32)
    assert cast_twice(x, TensorProto.INT64, TensorProto.INT32) != [7, 3 * 10**9 - 2**32]
    assert cast_twice(x[:1] + 0.9999, TensorProto.FLOAT16, TensorProto.INT8) == [7]


class _CastTwice(torch.nn.Module):
    def __init__(self, between: torch.dtype, to: torch.dtype) -> None:
        super().__init__()
        self.between, self.to_dtype = between, to

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(self.between).to(self.to_dtype)


_WIDE = (torch.int64, torch.uint64, torch.uint32, torch.float16, torch.bfloat16)
_NARROW = (torch.int32, torch.uint32, torch.int16, torch.uint16, torch.int8, torch.uint8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_keep_what_each_of_two_casts_does(dtype: torch.dtype) -> None:
    """As far as PyTorch says what the first one does: not beyond the bounds of its type."""
    given = [3e9, -5e9, 2.0**31 + 5, 70000.0, -40000.0, 7.0, 64.97, -64.97, 255.99, 100.99]
    for between, to in itertools.product(_WIDE, _NARROW):
        x = torch.tensor(given, dtype=dtype)
        limits = torch.iinfo(to if between.is_floating_point else between)
        x = x[(x >= limits.min) & (x <= limits.max)]
        model = _CastTwice(between, to)
        program = sardonyx.export(model, (x,), dynamic_shapes=({0: "n"},))
        torch.testing.assert_close(program(x)[0], model(x), atol=0, rtol=0)
