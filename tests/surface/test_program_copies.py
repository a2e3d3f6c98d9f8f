"""Copies and pickles of programs, and how notebooks show them."""

from __future__ import annotations

import copy
import pickle
from html.parser import HTMLParser

import pytest
import torch
from torch import nn

import sardonyx


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.second = nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x))


@pytest.fixture
def model() -> nn.Module:
    return Two().eval()


@pytest.fixture
def program(model: nn.Module) -> sardonyx.ONNXProgram:
    return sardonyx.export(model, (torch.randn(2, 4),), dynamic_shapes=({0: "batch"},))


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copy_computes_the_same(model, program, copied) -> None:
    x = torch.randn(5, 4)
    other = copied(program)
    torch.testing.assert_close(other(x)[0], model(x))
    assert str(other) == str(program)
    assert other._serialize() == program._serialize()


def test_a_copy_shares_weights_and_nothing_else(model, program) -> None:
    x = torch.randn(3, 4)
    shallow, deep = copy.copy(program), copy.deepcopy(program)
    before = model(x)
    with torch.no_grad():
        model.second.bias.add_(1.0)
    torch.testing.assert_close(shallow(x)[0], before + 1.0)
    torch.testing.assert_close(deep(x)[0], before)

    text = str(program)
    shallow.model.graph.name = "another"
    shallow.model.graph.outputs[0].name = "renamed"
    assert shallow.output_names == ["renamed"]
    assert str(program) == text


def test_a_pickle_keeps_notes_and_no_program(program) -> None:
    back = pickle.loads(pickle.dumps(program))
    assert back.notes == program.notes
    assert back.exported_program is None


class Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_notebook_shows_inputs_and_modules(program) -> None:
    page = Texts()
    page.feed(program._repr_html_())
    assert page.open == []
    text = " ".join(page.texts)
    assert "x float32 [batch, 4]" in " ".join(text.split())
    for told in ("first", "second", "Gemm"):
        assert told in text
