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


def chunked(x: torch.Tensor) -> torch.Tensor:
    """Chunks that overlap, as Longformer cuts them: a view of a view of a transposed tensor."""
    heads = (x.transpose(0, 1) * 2).contiguous().view(8, x.shape[0], 2, 4).permute(1, 2, 0, 3)
    heads = heads.reshape(x.shape[0] * 2, 8, 4)  # is a view of what was multiplied
    chunks = heads.view(heads.shape[0], 2, 4, 4)
    strides = list(chunks.stride())
    strides[1] = strides[1] // 2
    return chunks.as_strided([chunks.shape[0], 3, 4, 4], strides)


@pytest.mark.parametrize("made", ["capture", "trace", "export"])
def test_views_of_what_is_transposed_lie_as_it_does(made: str) -> None:
    example = torch.randn(2, 8, 8, generator=torch.Generator().manual_seed(0))
    model: Any = Runs(chunked)
    if made == "trace":
        model = torch.jit.trace(chunked, example.clone())
    program = sardonyx.export(
        model, (example,), **({"capture": "trace"} if made == "capture" else {})
    )
    torch.testing.assert_close(program(example.clone())[0], chunked(example.clone()))


def test_strides_that_a_trace_keeps_are_told() -> None:
    example = torch.randn(2, 8, 8)
    program = sardonyx.export(
        Runs(chunked), (example,), dynamic_shapes={"x": {0: "rows"}}, capture="trace"
    )
    assert any("chunks.stride()" in note.message for note in program.notes)
