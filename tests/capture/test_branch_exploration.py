"""Data-dependent branches of Python: both branches are in the model, and give what eager PyTorch
gives."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import torch

import sardonyx
from tests.harness import difference


def assert_same(made, model, inputs):
    got, wanted = made(*inputs), torch.utils._pytree.tree_leaves(model(*inputs))
    for one, other in zip(got, wanted, strict=True):
        assert difference(torch.as_tensor(one), other) is None


class Asks(torch.nn.Module):
    """One answer in several places, questions within answers, and results of several sizes."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x, mask):
        x = self.first(x) * 2
        chosen = mask.any().item()
        for _ in range(2):
            x = self.second(x) + x[mask].sum() if chosen else x.relu()
        if (x > 0).sum().item() > 5:
            x = x - 1
        if x.sum().item() > 0.5:
            return x[:1], mask
        if mask.all():
            return self.first(x)[:2], ~mask
        return x * 3, mask


@pytest.mark.parametrize("shapes", [None, {"x": {0: "rows"}, "mask": {0: "rows"}}])
def test_both_ways_are_in_the_model(shapes):
    torch.manual_seed(0)
    model = Asks().eval()
    example = torch.randn(3, 4), torch.tensor([True, False, True])
    made = sardonyx.export(model, example, dynamic_shapes=shapes, capture="quick")
    assert {note.code for note in made.notes} == {"SX1018"}
    assert sum("if mask.all()" in note.message for note in made.notes) == 1
    for seed, share in itertools.product(range(6), (0.2, 1, -1)):
        torch.manual_seed(seed)
        rows = 3 if shapes is None else 3 + seed % 4
        assert_same(made, model, (torch.randn(rows, 4), torch.rand(rows) > share))


class Masked(torch.nn.Module):
    """Of torch.vmap, ahead of questions and in the ways behind them."""

    def forward(self, x, n):
        places = torch.arange(x.shape[0])

        def far(first, second):
            return first - second > n

        mask = torch.vmap(torch.vmap(far, (None, 0)), (0, None))(places, places)
        if n.item() > 2:
            x = x * mask.sum(1, keepdim=True)
        if x.sum().item() > 0:
            return torch.vmap(lambda row: row + row.sum())(x), mask
        return x - 1, mask


def test_mapped_functions_ahead_of_branches():
    made = sardonyx.export(
        Masked(),
        (torch.randn(5, 2), torch.tensor(1)),
        dynamic_shapes=({0: "rows"}, None),
        capture="quick",
    )
    for seed, number in itertools.product(range(4), (0, 1, 3)):
        torch.manual_seed(seed)
        assert_same(made, Masked(), (torch.randn(4 + seed, 2), torch.tensor(number)))


def by_number(x, n):
    return x * 2 if n.item() >= 3 else x - 1


def by_truth(x, n):
    return x * 2 if n else x - 1


def by_not(x, n):
    return x * 2 if not n.bool().item() else x - 1


def by_one_of_one(x, n):
    return x * 2 if n[None, None] > 2 else x - 1


def by_two(x, n):
    return x * 2 if n > 0 and x.sum() > 4 else x - 1


def by_difference(x, n):
    return x * 2 if n.item() < x.shape[0] - 1 else x - 1


@pytest.mark.parametrize(
    "function", [by_number, by_truth, by_not, by_one_of_one, by_two, by_difference]
)
def test_what_is_asked(function):
    example = torch.ones(3, 4), torch.tensor(3)
    made = sardonyx.export(function, example, dynamic_shapes=({0: "rows"}, None), capture="quick")
    for n, rows in itertools.product((-1, 0, 1, 2, 3, 4), (2, 5)):
        assert_same(made, function, (torch.ones(rows, 4), torch.tensor(n)))


def compares(x):
    return x + 1 if x.sum().item() <= 0.1 else x - 1


def compares_the_other_way(x):
    total = x.sum().item()
    if total > 0.1:
        return x * 5
    return x + 1 if total <= 0.1 else x - 1


@pytest.mark.parametrize("function", [compares, compares_the_other_way])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_floating_numbers_are_compared_as_python_does(function, dtype):
    made = sardonyx.export(function, (torch.ones(2, dtype=dtype),), capture="quick")
    for number in (0.05, 0.1, math.nan, math.inf, -math.inf):
        assert_same(made, function, (torch.tensor([number, 0.0], dtype=dtype),))


class Writes(torch.nn.Module):
    """To what was there before the question, and in one way alone."""

    def forward(self, x, mask):
        y = x.clone()
        y[1:] += 1
        if mask.any():
            y[1:].mul_(2)
            y[0] = 5
        return y, y + 1


class Counts(torch.nn.Module):
    """Data-dependent sizes: outside the branches, in one branch, and from len()."""

    def forward(self, x, mask):
        rows = x[mask]
        places = mask.nonzero()
        if mask.sum() > 1:
            more = x[~mask].view(len(x[~mask]), 4)
            return rows.sum(0), torch.cat([rows, more]), places.new_zeros(len(places))
        return rows.sum(0) * 2, rows[:0], places[:, 0]


class Strides(torch.nn.Module):
    """Windows that overlap, of what is made in one way."""

    def forward(self, x, mask):
        if mask.all():
            y = torch.nn.functional.pad(torch.nn.functional.linear(x, torch.eye(4) * 2), (1, 1))
            return y.as_strided((2, 2, 2), (y.stride(0), 1, 1)).sum(-1)
        y = x.transpose(0, 1).reshape(4, -1) + 1
        return y.as_strided((2, 2), (y.stride(0), y.stride(1)))


@pytest.mark.parametrize("model", [Writes(), Counts(), Strides()], ids=lambda m: type(m).__name__)
def test_what_stands_in_a_way(model):
    example = torch.randn(3, 4), torch.tensor([True, False, True])
    shapes = {"x": {0: "rows"}, "mask": {0: "rows"}}
    made = sardonyx.export(model, example, dynamic_shapes=shapes, capture="quick")
    for rows, share in itertools.product((2, 5), (0.5, -1, 2)):
        assert_same(made, model, (torch.randn(rows, 4), torch.rand(rows) > share))


class Assigns(torch.nn.Module):
    """Assigns other buffers in each branch."""

    def __init__(self):
        super().__init__()
        for name in ("calls", "last", "least"):
            self.register_buffer(name, torch.zeros(2))

    def forward(self, x):
        self.calls = self.calls + 1
        if x.sum() > 0:
            if x[0] > 2:
                self.last = x
            else:
                self.least -= x
        elif x.sum() < -3:
            return x
        return x * 2 + self.last + self.least


def test_buffers_are_assigned_in_branches():
    made = sardonyx.export(Assigns(), (torch.ones(2),), capture="quick")
    names = [value.name for value in made.model.graph.outputs][1:]
    for x in ([1.0, 1], [3.0, 1], [-1.0, 0], [-4.0, 0]):
        model, inputs = Assigns(), (torch.tensor(x),)
        result, *buffers = made(*inputs)
        assert torch.equal(result, model(*inputs))
        for name, buffer in zip(names, buffers, strict=True):
            assert torch.equal(buffer, getattr(model, name.removesuffix("_updated")))
    assert len(names) == 3


def test_memory_of_what_lies_outside_of_a_way_is_declined():
    def reads(x):
        y = (x * 2)[1:]
        return y.as_strided((2,), (1,), 0) if x.sum() > 0 else y[0, :2]

    with pytest.raises(sardonyx.CaptureError, match="as_strided in a branch"):
        sardonyx.export(reads, (torch.ones(3, 4),), capture="quick")


def counts_to_it(x):
    while x.sum() > 1:
        x = x / 2
    return x


def another_structure(x):
    return (x, x) if x.sum() > 1 else x


def another_rank(x):
    return x if x.sum() > 1 else x[0]


def another_number(x):
    return (x, 1) if x.sum() > 1 else (x, 2)


def with_gradients(x):
    with torch.enable_grad():
        return x * 2 if x.sum() > 1 else x


@pytest.mark.parametrize(
    "function",
    [counts_to_it, another_structure, another_rank, another_number, with_gradients],
    ids=lambda function: function.__name__,
)
def test_declines(function):
    with pytest.raises(sardonyx.CaptureError, match="fake-tensor tracing declines"):
        sardonyx.export(function, (torch.ones(3, 4),), capture="quick")


class Told(torch.nn.Module):
    """Draws, prints, and counts its calls."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        print("told")
        x = x * random.random()
        return x + self.calls if x.sum() > 0 else x - self.calls


def test_a_run_for_each_way_is_one_to_the_model(capsys):
    random.seed(3)
    model, drawn = Told(), random.random()
    random.seed(3)
    made = sardonyx.export(model, (torch.ones(2),), capture="quick")
    assert capsys.readouterr().out == "told\n"
    assert model.calls == 0
    for x in (torch.ones(2), -torch.ones(2)):
        wanted = x * drawn + (1 if x.sum() > 0 else -1)
        torch.testing.assert_close(made(x)[0], wanted)


def raises_within(x):
    def checked(y):
        if y.shape[0] > 2:
            raise ValueError("mine")
        return y

    if x.isnan().any():
        x = checked(x)
    return x + 1 if x.sum() > 0 else x - 1


def test_a_way_that_only_raises_is_left_out():
    made = sardonyx.export(raises_within, (torch.ones(3),), capture="quick")
    assert sorted(note.code for note in made.notes) == ["SX1017", "SX1018"]
    for x in (torch.ones(3), -torch.ones(3)):
        assert_same(made, raises_within, (x,))
