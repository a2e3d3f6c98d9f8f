"""What fake-tensor tracing takes for a relation that leaves sizes open."""

from __future__ import annotations

import itertools
import random

import pytest
import sympy
import torch
from torch import nn
from torch.export import Dim
from torch.utils._sympy.functions import FloorDiv, Max, Min, Mod

import sardonyx
from sardonyx._capture.meta_tracer.symbolic.periodic import always_holds
from sardonyx._capture.meta_tracer.symbolic.relations import (
    fixes_sizes,
    leaves_sizes_open,
    numbers_of,
    relates_computed_sizes,
)
from sardonyx._capture.source_location import is_raised_by_model

from .comparison import Subject, difference

S, T = (sympy.Symbol(name, positive=True, integer=True) for name in "st")
PADDED = S + Mod(64 - Mod(S, 64), 64)  # to the next multiple of 64
N = sympy.Symbol("n", nonnegative=True, integer=True)


@pytest.mark.parametrize(
    "relation",
    [
        sympy.Lt(S + T, 9),
        sympy.Le(2 * FloorDiv(S, 2) + 1, S),
        sympy.Eq(S, 2 * T),
        sympy.Eq(FloorDiv(S, 2) + 1, FloorDiv(S + T, 2)),
        sympy.Ne(FloorDiv(S, 2), 4),
        sympy.Eq(Mod(S, 2), 0),
        sympy.Eq(Mod(S * T, 2 * T), 0, evaluate=False),
        sympy.Eq(Mod(64 * T * PADDED, 4096 * T), 0, evaluate=False),
        sympy.Eq(FloorDiv(S + 2, 2) - FloorDiv(S, 2), 1, evaluate=False),
        sympy.Eq(FloorDiv(4 * S - 1, S), 3),
        sympy.Eq(FloorDiv(S * T + T, T), S + 1, evaluate=False),
        sympy.And(sympy.Le(S, T), sympy.Le(T, S + 4)),
        sympy.true,
    ],
)
def test_leaves_sizes_open(relation):
    assert leaves_sizes_open(relation)


@pytest.mark.parametrize(
    "relation",
    [
        sympy.Eq(S, 4),
        sympy.Eq(S * T, 24),
        sympy.Eq(Min(S, T), 4),
        sympy.Eq(FloorDiv(S, 64), 1),
        sympy.Eq(FloorDiv(4 * S - 2, S), 3),
        sympy.Eq(FloorDiv(4 * S + 1, S), 4),
        sympy.Eq(FloorDiv(PADDED, 64), 1),
        sympy.Eq(FloorDiv(S + FloorDiv(S, 2) - 1, FloorDiv(S, 2)), 2),
    ],
)
def test_fixes_sizes_or_may(relation):
    assert not leaves_sizes_open(relation)
    assert fixes_sizes(relation)


def test_one_of_several_fixes_no_size():
    """PyTorch asks such of how tensors lie in memory."""
    assert not fixes_sizes(sympy.Or(sympy.Eq(S, 1), sympy.Eq(S * T, 24)))


def _drawn(numbers, depth):
    """An expression of sizes, quotients and remainders."""
    if depth == 0:
        return numbers.choice([S, T, N, sympy.Integer(numbers.randint(0, 5))])
    a, b = (_drawn(numbers, depth - 1) for _ in range(2))
    by = numbers.randint(2, 4)
    return numbers.choice(
        [a + b, a * numbers.randint(1, 3), FloorDiv(a, by), Mod(a, by), Max(a, b)]
    )


def test_what_is_said_to_hold_does():
    numbers, proved = random.Random(3), 0
    for _ in range(100):
        value, by = _drawn(numbers, numbers.randint(1, 3)), numbers.randint(2, 4)
        # Of two that are equal often: a quotient and a rest, and another that is drawn.
        other = numbers.choice([by * FloorDiv(value, by) + Mod(value, by), _drawn(numbers, 1)])
        relation = sympy.Eq(value, other)
        if relation in (sympy.true, sympy.false) or not always_holds(relation):
            continue
        proved += 1
        for values in itertools.product((1, 2, 3, 7, 12), (1, 2, 5, 8), (0, 1, 6, 11)):
            assert relation.subs(dict(zip((S, T, N), values, strict=True))) == sympy.true
    assert proved > 3


class Chunks(nn.Module):
    """Loops over parts of a sequence, as often as its length says."""

    def forward(self, x):
        length = x.shape[1]
        padded = nn.functional.pad(x, (0, 0, 0, (64 - length % 64) % 64))
        parts = padded.reshape(x.shape[0], -1, 64, 8)
        state, results = x.new_zeros(x.shape[0], 64, 8), torch.zeros_like(parts)
        for i in range(padded.shape[1] // 64):
            state = state + parts[:, i]
            results[:, i] = state
        return results.reshape(x.shape[0], -1, 8)[:, :length]


class Half(nn.Module):
    def forward(self, x):
        return x * 2 if x.shape[1] // 2 == 8 else x


def _of_both_dims(model):
    return Subject(model, (torch.randn(2, 16, 8),), shapes=({0: Dim.AUTO, 1: Dim.AUTO},))


def test_the_models_own_questions_are_torch_exports():
    subject = _of_both_dims(Half())
    assert not difference(subject.by_torch(), subject.quickly())


def test_a_loop_over_parts_bounds_the_length():
    """torch.export keeps the number of parts as an expression of any length, and asserts it."""
    subject = _of_both_dims(Chunks())
    assert "VR[2, 64]" not in subject.by_torch()
    assert "VR[2, 64]" in subject.quickly()
    made = sardonyx.export(
        Chunks(),
        (torch.randn(2, 16, 8),),
        dynamic_shapes=({0: Dim("batch"), 1: Dim("length", max=64)},),
    )
    for sizes in ((1, 3), (3, 64)):
        x = torch.randn(*sizes, 8)
        torch.testing.assert_close(made(x)[0], Chunks()(x))


def test_a_loop_over_parts_is_in_the_model():
    made = sardonyx.export(
        Chunks(),
        (torch.randn(2, 16, 8),),
        dynamic_shapes=({0: "batch", 1: "length"},),
        capture="quick",
    )
    assert made.notes == ()
    for sizes in ((2, 16), (1, 3), (3, 64), (2, 65), (1, 200)):
        x = torch.randn(*sizes, 8)
        torch.testing.assert_close(made(x)[0], Chunks()(x))


class Local(nn.Module):
    """Attends within parts of a sequence, whose number nothing hangs on."""

    def forward(self, x):
        padded = nn.functional.pad(x, (0, 0, 0, -x.shape[1] % 64))
        parts = padded.reshape(x.shape[0], -1, 64, 8)
        return (parts @ parts.transpose(-1, -2) @ parts).reshape(x.shape[0], -1, 8)


LENGTHS = ({0: Dim.AUTO, 1: Dim.AUTO},)


def test_a_number_of_parts_is_not_asked_for():
    subject = Subject(Local(), (torch.randn(2, 16, 8),), shapes=LENGTHS)
    assert not difference(subject.by_torch(), subject.quickly())
    made = sardonyx.export(Local(), subject.args, dynamic_shapes=LENGTHS, capture="quick")
    assert not made.notes
    for sizes in ((2, 16), (1, 3), (3, 200)):
        x = torch.randn(*sizes, 8)
        torch.testing.assert_close(made(x)[0], Local()(x), rtol=1e-4, atol=1e-3)


def test_what_torch_export_fixes_for_an_operator_is_told():
    """It asks whether there is one part, and makes its program for the answer alone."""
    args = (torch.randn(2, 16, 8),)
    made = sardonyx.export(Local(), args, dynamic_shapes=LENGTHS, capture="torch")
    (note,) = made.notes
    assert note.code == "SX1015"
    assert note.message.startswith("an operator asks of dynamic sizes")
    assert "64) == 1, at" in note.message
    assert "larger sizes" in note.help
    longer = (torch.randn(2, 100, 8),)
    made = sardonyx.export(Local(), longer, dynamic_shapes=LENGTHS, capture="torch")
    assert not made.notes


def test_computed_sizes_that_are_taken_for_others() -> None:
    n, m = sympy.symbols("n m", integer=True, positive=True)
    assert relates_computed_sizes(sympy.Eq(m * FloorDiv(n, m), m))
    assert relates_computed_sizes(sympy.Eq(FloorDiv(n, 2), FloorDiv(m, 2)))
    # An input's size is the other one afterwards, a number, or a multiple of one.
    assert not relates_computed_sizes(sympy.Eq(n + 1, m))
    assert not relates_computed_sizes(sympy.Eq(n + FloorDiv(n, 2), m + FloorDiv(n, 2)))
    assert not relates_computed_sizes(sympy.Eq(sympy.Min(512, n), n, evaluate=False))
    assert relates_computed_sizes(sympy.Eq(sympy.Min(n, m), m, evaluate=False))
    assert relates_computed_sizes(sympy.Eq(m * FloorDiv(n, m), n))
    assert not relates_computed_sizes(sympy.Eq(4 * FloorDiv(n, 2) * FloorDiv(m, 2), n * m))
    assert not relates_computed_sizes(sympy.Eq(FloorDiv(n, 2), 3))
    assert not relates_computed_sizes(sympy.Eq(3 * FloorDiv(n * m, 3), n * m))


def test_numbers_of_a_relation_are_also_those_divided_by_its_real_ones():
    relation = sympy.Eq(sympy.floor(N * sympy.Float(0.25)), 8, evaluate=False)
    assert {8, 32} <= numbers_of(relation)
    zero = sympy.Gt(N * sympy.Float(0.5) + sympy.Float(0.0), 3, evaluate=False)
    assert {3, 6} <= numbers_of(zero)


@pytest.mark.parametrize("call", [lambda: sympy.sympify("1 +"), lambda: float(sympy.I)])
def test_an_error_within_a_library_is_not_the_models(call):
    with pytest.raises((TypeError, sympy.SympifyError)) as caught:
        call()
    assert not is_raised_by_model(caught.value)


def test_an_error_of_the_models_own_line_is_the_models():
    with pytest.raises(ValueError, match="own") as caught:
        raise ValueError("the model's own")
    assert is_raised_by_model(caught.value)
