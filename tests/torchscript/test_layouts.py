"""Inputs whose rows do not lie one behind the other, which some operators see."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import sardonyx

pytestmark = pytest.mark.filterwarnings("ignore")


def grid(rows: int, columns: int) -> torch.Tensor:
    return torch.arange(float(rows * columns)).reshape(rows, columns)


def strided(x: torch.Tensor) -> torch.Tensor:
    return x.as_strided([3], [7], 1)


def copied(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous().add_(1) - x


def not_copied(x: torch.Tensor) -> torch.Tensor:
    return x.t().contiguous().add_(1) - x.t()


class Runs(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


@pytest.mark.parametrize("function", [strided, copied, not_copied])
@pytest.mark.parametrize("made", ["capture", "trace", "script"])
def test_a_transposed_input(function: Callable[..., Any], made: str) -> None:
    example, other = grid(4, 5).t(), grid(6, 9).t()
    model: Any = Runs(function)
    if made == "trace":
        model = torch.jit.trace(function, example.clone())
    if made == "script":
        model = torch.jit.script(function)
    options = {"capture": "trace"} if made == "capture" else {}
    program = sardonyx.export(
        model, (example,), dynamic_shapes={"x": {0: "rows", 1: "columns"}}, **options
    )
    for given in (example, other):
        wanted = function(given.clone())
        torch.testing.assert_close(program(given.clone())[0], wanted)


def test_the_example_of_a_traced_file(tmp_path: Path) -> None:
    example = grid(4, 5).t()
    traced = torch.jit.trace(Runs(copied), example.clone())
    traced.save(str(tmp_path / "model.pt"))
    program = sardonyx.convert(tmp_path / "model.pt", dynamic=["x:0"])
    given = grid(4, 7).t()
    torch.testing.assert_close(program(given.clone())[0], copied(given.clone()))


def test_gaps_and_repeated_rows() -> None:
    for example in (grid(6, 8)[:, ::2], grid(1, 4).expand(3, 4), grid(6, 8)[::3]):
        program = sardonyx.export(
            Runs(copied), (example,), dynamic_shapes={"x": {0: "rows"}}, capture="trace"
        )
        torch.testing.assert_close(program(example)[0], copied(example))
