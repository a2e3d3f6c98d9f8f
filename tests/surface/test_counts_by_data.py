"""Python that counts what data select: never the example's count without a word."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

import sardonyx

LOOPS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "rows of unbind": lambda b: torch.stack([row * 2 for row in b.unbind(0)]),
    "parts of split": lambda b: torch.cat([part * 2 for part in b.split(1)]),
    "iteration": lambda b: torch.stack([row + 1 for row in b]),
    "a list of rows": lambda b: torch.stack(list(b)),
    "range": lambda b: torch.stack([b[i] for i in range(b.shape[0])]),
}
NUMBERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "int": lambda b: b * int(b.shape[0]),
    "numel": lambda b: b / float(b.numel()),
    "a size": lambda b: b * b.shape[0],
}


class Selected(nn.Module):
    def __init__(self, rest: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.rest = rest

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rest(x[x[:, 0] > 0])


def rows(positive: int) -> torch.Tensor:
    return (
        torch.arange(18.0).reshape(6, 3) * torch.where(torch.arange(6) < positive, 1, -1)[:, None]
    )


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_refused(name: str) -> None:
    with pytest.raises(sardonyx.CaptureError):
        sardonyx.export(Selected(LOOPS[name]), (rows(4),))


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_of_the_data(name: str) -> None:
    model = Selected(NUMBERS[name])
    made = sardonyx.export(model, (rows(4),))
    for positive in (2, 4, 6):
        x = rows(positive)
        torch.testing.assert_close(made(x)[0], model(x))


@pytest.mark.parametrize(
    "rest",
    [lambda b: b * 2 if b.numel() > 6 else b, lambda b: b * 2 if len(b) > 2 else b],
    ids=["numel", "len"],
)
def test_a_branch_on_how_many_has_both_ways(rest: Callable[[torch.Tensor], torch.Tensor]) -> None:
    model = Selected(rest)
    made = sardonyx.export(model, (rows(4),))
    assert {note.code for note in made.notes} == {"SX1018"}
    for x in (rows(5), rows(1)):
        torch.testing.assert_close(made(x)[0], model(x))


def pairs_and_rest(b: torch.Tensor) -> torch.Tensor:
    """The first of each two, and what is left behind them, which may be nothing."""
    several = len(b) // 2
    if several == 0:
        return b[:, 0]
    return torch.cat([b[: 2 * several, 0].view(several, 2)[:, 0], b[2 * several :, 0]])


def test_joining_what_may_be_empty_asks_nothing() -> None:
    model = Selected(pairs_and_rest)
    made = sardonyx.export(model, (rows(4),))
    assert [note.code for note in made.notes] == ["SX1018"]
    for positive in (2, 3, 4, 6):
        x = rows(positive)
        torch.testing.assert_close(made(x)[0], model(x))
