"""Real numbers from 1e10 to 1e17, which PyTorch writes into archives as integers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import sardonyx

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def _farthest(x: Tensor) -> Tensor:
    chosen = torch.zeros(3, dtype=torch.long)
    distance = torch.full((x.size(0),), 1e10)
    last = torch.tensor(0)
    for i in range(3):
        chosen[i] = last
        distance = torch.min(distance, ((x - x[last]) ** 2).sum(-1))
        last = distance.argmax()
    return chosen


def _filled(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.full((2,), -1e12) + x[0], torch.full((2,), 1e16), torch.full((2,), 20000000000)


def _both(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.full((2,), 1e12) + x[0], torch.full((2,), 1000000000000)


@pytest.mark.parametrize("function", [_farthest, _filled])
@pytest.mark.parametrize("made", [torch.jit.script, "trace"])
def test_they_stay_real(function: Callable[..., object], made: object) -> None:
    x = torch.randn(5, 2, generator=torch.Generator().manual_seed(1))
    if made == "trace":
        model = torch.jit.trace(function, x)
    else:
        model = torch.jit.script(function)
    program = sardonyx.export(model, (x,), dynamic_shapes={"x": {0: "rows"}})
    for given in (x, torch.cat([x, -2 * x])):
        wanted = model(given)
        for ours, theirs in zip(
            program(given), wanted if isinstance(wanted, tuple) else (wanted,), strict=True
        ):
            torch.testing.assert_close(torch.as_tensor(ours), theirs)


def test_where_an_integer_is_written_alike_nothing_is_guessed() -> None:
    program = sardonyx.export(torch.jit.script(_both), (torch.ones(2),))
    dtypes = [torch.as_tensor(result).dtype for result in program(torch.ones(2))]
    assert dtypes == [torch.float32, torch.int64]
