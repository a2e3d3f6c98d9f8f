"""The types that few programs hold: 8-bit floats and the wide unsigned integers."""

from __future__ import annotations

import pytest
import torch

from tests.operators.check import Call, Case, check, exporter
from tests.operators.inputs import INF, NAN, floats, ints, of
from tests.opinfo.capture import capture_module
from tests.opinfo.exporter import Refused

FLOATS = [
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2fnuz,
]
UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
SIGNED_TWIN = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}

# Zeros, ties between neighbors, what is too large for some of the types or all, and subnormals.
VALUES = of(0.0, -0.0, 1.0, -1.5, 2.3, 1e-3, -1e-4, 0.0019, 1.0625, 1.1875, 240.0, 250.0)
VALUES = torch.cat([VALUES, of(448.0, 460.0, 470.0, -1e6, 57344.0, 61000.0, 62000.0, INF, NAN)])
PLACES = torch.tensor([2, 0])

CASTS = {
    "from float32": lambda dtype: (lambda x: x.to(dtype), VALUES),
    "from float16": lambda dtype: (lambda x: x.to(dtype), VALUES.half()),
    "from bfloat16": lambda dtype: (lambda x: x.to(dtype), VALUES.bfloat16()),
    "from float64": lambda dtype: (lambda x: x.to(dtype), VALUES.double()),
    "from int64": lambda dtype: (lambda x: x.to(dtype), ints(9, low=-600, high=600)),
    "to float32": lambda dtype: (lambda x: x.float(), VALUES.to(dtype)),
    "to float16": lambda dtype: (lambda x: x.half(), VALUES.to(dtype)),
    "to float64": lambda dtype: (lambda x: x.double(), VALUES.to(dtype)),
    "to int32": lambda dtype: (lambda x: x.int(), VALUES[:8].to(dtype)),
    "to bool": lambda dtype: (lambda x: x.bool(), VALUES.to(dtype)),
    "written over": lambda dtype: (lambda x: torch.zeros(21, dtype=dtype).copy_(x), VALUES),
    "full": lambda dtype: (lambda x: torch.full_like(x, 200.0), VALUES.to(dtype)),
}
MOVES = {
    "reshaped": lambda x: x.reshape(7, 3),
    "transposed": lambda x: x.reshape(7, 3).t().contiguous(),
    "expanded": lambda x: x[:2].unsqueeze(1).expand(2, 3),
    "sliced": lambda x: x[1::2],
    "split": lambda x: x.split(9),
    "joined": lambda x: torch.cat([x, x[:3]]),
    "rolled": lambda x: x.roll(2),
    "repeated": lambda x: x.repeat(2, 1),
    "indexed": lambda x: x[PLACES],
    "selected": lambda x: x.index_select(0, PLACES),
    "unfolded": lambda x: x.unfold(0, 4, 3),
    "chosen": lambda x: torch.where(x.float() > 1, x, x.roll(1)),
    "written to": lambda x: x.index_put((PLACES,), x[3:5]),
    "padded": lambda x: torch.nn.functional.pad(x, (1, 2)),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", CASTS)
def test_casts_of_small_floats(name: str, dtype: torch.dtype) -> None:
    function, source = CASTS[name](dtype)
    check(Case(function, (source,), dynamic=False))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", MOVES)
def test_moves_of_small_floats(name: str, dtype: torch.dtype) -> None:
    check(Case(MOVES[name], (VALUES.to(dtype),), dynamic=False))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_products_of_small_floats(dtype: torch.dtype) -> None:
    x = VALUES.to(dtype)
    check(Case(torch.mul, (x, x.roll(1)), dynamic=False))
    check(Case(torch.abs, (x,), dynamic=False))


def test_the_bits_of_small_floats_are_refused() -> None:
    x = floats(4).to(torch.float8_e5m2)
    captured = capture_module(Call(lambda x: x.view(torch.uint8)), [x], dynamic=False)
    with pytest.raises(Refused, match="no kernel of BitCast"):
        exporter().convert(captured, opset=26)


def unsigned(dtype: torch.dtype) -> torch.Tensor:
    """Small numbers, and those on both sides of where the signed type of this width ends."""
    most = 2 ** (8 * dtype.itemsize) - 1
    edges = [most, most - 1, most // 2, most // 2 + 1]
    return torch.tensor([0, 1, 2, 5, *edges, 7, 100, 3, 250], dtype=dtype)


ARITHMETIC = {
    "sum": lambda x: x + x.flip(0),
    "difference": lambda x: x - x.flip(0),
    "product": lambda x: x * x.flip(0),
    "and": lambda x: x & x.flip(0),
    "equal": lambda x: x == x.flip(0),
    "below": lambda x: x < x.flip(0),
    "total": lambda x: x.sum(),
    "greatest": lambda x: x.max(),
    "joined": lambda x: torch.cat([x, x]),
    "indexed": lambda x: x[PLACES],
    "chosen": lambda x: torch.where(x > 3, x, x.flip(0)),
    "sign": lambda x: x.view(SIGNED_TWIN[x.dtype]),
    "as float": lambda x: x.float(),
    "as int64": lambda x: x.long(),
    "as int8": lambda x: x.to(torch.int8),
    "ones": torch.ones_like,
}


@pytest.mark.parametrize("dtype", UNSIGNED, ids=str)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_unsigned_integers(name: str, dtype: torch.dtype) -> None:
    module, x = Call(ARITHMETIC[name]), unsigned(dtype)
    if capture_module(module, [x], dynamic=False).status == "unfit":
        pytest.skip("eager PyTorch has no kernel")
    check(Case(ARITHMETIC[name], (x,), dynamic=False))
