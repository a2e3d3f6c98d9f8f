"""Calls that give a tensor other sizes in place: `x.unsqueeze_(0)`, `x.t_()`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import sardonyx
from tests.harness import Calls, difference

Results = tuple[Tensor, ...]


def is_written(x: Tensor) -> Results:
    y = x * 2
    y.unsqueeze_(1)
    y.add_(1)
    total = y.sum(0)
    y.squeeze_(1)
    y.t_()
    return y, total


def is_seen_by_a_view(x: Tensor) -> Results:
    y = x * 2
    row = y.view(-1)
    y.unsqueeze_(0)
    row.add_(1)
    held = [y]
    held[0].squeeze_(0)
    return y + 1, row


def is_between_branches(x: Tensor) -> Results:
    y = x * 2
    y.unsqueeze_(1)
    if x.shape[0] > 4:
        y = y + 1
        y.transpose_(0, 2)
        y = y.transpose(0, 2)
    z = y * 3
    z.squeeze_(1)
    if x.sum() > 0:
        z = z * 2
    w = z + 1
    w.swapaxes_(0, 1)
    return w, w * z.shape[0]


FUNCTIONS = [is_written, is_seen_by_a_view, is_between_branches]


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_tensor_has_other_sizes_from_then_on(
    function: Callable[[Tensor], Results], is_dynamic: bool
) -> None:
    shapes: Any = ({0: Dim.DYNAMIC},) if is_dynamic else None
    example = torch.randn(3, 4)
    program = sardonyx.export(Calls(function), (example,), dynamic_shapes=shapes, capture="quick")
    assert example.shape == (3, 4)
    for rows in (0, 1, 3, 5, 7) if is_dynamic else (3,):
        x = torch.randn(rows, 4)
        for got, wanted in zip(program(x), function(x), strict=True):
            assert not difference(got, wanted), rows


def test_the_callers_tensor_stays_as_it_is() -> None:
    example = torch.randn(3, 4)
    with pytest.warns(sardonyx.errors.OnnxExporterWarning, match="gets other sizes in place"):
        program = sardonyx.export(Calls(lambda x: (x.unsqueeze_(0) * 2,)), (example,))
    assert example.shape == (3, 4)
    assert torch.equal(program(example)[0], example[None] * 2)


class Doubles(nn.Module):
    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.linear = linear

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) * 2


class Triples(Doubles):
    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) * 3


class Exchanges(nn.Module):
    """Takes another module, with the same weights, for what is short."""

    def __init__(self) -> None:
        super().__init__()
        self.inner: Doubles = Doubles(nn.Linear(4, 2))

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] < 5:
            self.inner = Triples(self.inner.linear)
        return self.inner(x)


def test_a_module_in_place_of_another_is_put_back() -> None:
    model = Exchanges()
    inner, names = model.inner, [*model.state_dict()]
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.errors.OnnxExporterWarning)
        program = sardonyx.export(
            model, (torch.randn(3, 4),), dynamic_shapes=({0: Dim.DYNAMIC},), capture="quick"
        )
    assert model.inner is inner
    assert set(names) <= set(program.model.graph.initializers)
    for rows in (0, 1, 4, 5, 7):
        x = torch.randn(rows, 4)
        with torch.no_grad():
            wanted = inner.linear(x) * (3 if rows < 5 else 2)
        assert not difference(program(x)[0], wanted), rows
