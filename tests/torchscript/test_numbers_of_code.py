"""Numbers of which the code of an archive says less than the program in memory knows."""

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
@pytest.mark.parametrize("made", ["script", "trace"])
def test_they_stay_real(function: Callable[..., object], made: str) -> None:
    x = torch.randn(5, 2, generator=torch.Generator().manual_seed(1))
    model = torch.jit.trace(function, x) if made == "trace" else torch.jit.script(function)
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


class _Traced(torch.nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


@pytest.mark.parametrize("capture", ["ours", "the user's"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1.5,
        lambda x: 2.5 * x,
        lambda x: x // 2.5,
        lambda x: torch.div(x, 2.5, rounding_mode="trunc"),
        lambda x: torch.where(x > 1, x, 0.5),
        lambda x: x.float().mean() * float(x.shape[1]),
        lambda x: x.to(torch.int32).sum(dtype=torch.int32) + 2,
        lambda x: (x > 1) + 2,
        lambda x: x + torch.tensor(1.5, dtype=torch.float64),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_number_beside_a_tensor_does_not_decide_its_type(
    function: Callable[[Tensor], Tensor], capture: str
) -> None:
    x = torch.arange(6).reshape(3, 2)
    if capture == "ours":
        program = sardonyx.export(
            _Traced(function), (x,), dynamic_shapes=({0: "rows"},), capture="trace"
        )
    else:
        traced = torch.jit.trace(function, x)
        program = sardonyx.export(traced, (x,), dynamic_shapes={"x": {0: "rows"}})
    for given in (x, torch.cat([x, x])):
        torch.testing.assert_close(program(given)[0], function(given))


@pytest.mark.filterwarnings("ignore")
def test_where_a_tensor_is_written_alike_nothing_is_guessed() -> None:
    model = _Traced(lambda x: (x + 1.5) * torch.tensor(1.5, dtype=torch.float64))
    with pytest.raises(sardonyx.OnnxExporterError, match=r"1\.5 is a number and a tensor"):
        sardonyx.export(model, (torch.arange(3),), capture="trace")
