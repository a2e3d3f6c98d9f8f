"""Samples of sizes that satisfy what is known on the path of a branch."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils._sympy.functions import FloorDiv, PythonMod

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.symbolic import size_samples
from sardonyx._capture.meta_tracer.symbolic.equations import contradict, solutions
from sardonyx._capture.meta_tracer.symbolic.size_samples import (
    Condition,
    SizeSamples,
)


def environment() -> tuple[Any, list[Any]]:
    env = ShapeEnv(duck_shape=False)
    symbols = [
        env.create_symbol(size, ConstantSource(name), dynamic_dim=DimDynamic.DYNAMIC)
        for name, size in (("n", 8), ("m", 12))
    ]
    return env, symbols


def conditions_of(n: Any, m: Any) -> list[Condition]:
    """What a loop over parts of 4 asks, with turns that another path takes."""
    turns = [Condition(sympy.Gt(n, 4 * turn), True) for turn in range(1, 6)]
    return [*turns, Condition(sympy.Eq(n, m), False), Condition(sympy.Lt(m, 2 * n), True)]


def test_conditions_of_another_path_are_not_remembered_for_this_one() -> None:
    env, (n, m) = environment()
    conditions = conditions_of(n, m)
    paths = [conditions[:end] for end in range(len(conditions) + 1)]
    paths += [[conditions[0], *conditions[start:]] for start in range(2, len(conditions))]
    paths += [conditions[:3], conditions, list(reversed(conditions))]
    samples = SizeSamples(env, {})
    table = samples.rows([], n + m)
    for path in paths:
        found = list(samples._that_satisfy(path, table))
        assert found == [row for row in table if all(each.holds(row) for each in path)]


def test_conditions_that_are_remembered_are_not_evaluated_again(monkeypatch) -> None:
    env, (n, m) = environment()
    conditions = conditions_of(n, m)
    samples = SizeSamples(env, {})
    table = samples.rows([], n + m)
    before = samples._evaluated
    samples._that_satisfy(conditions, table)
    counted = samples._evaluated - before
    samples._that_satisfy(conditions, table)
    assert samples._evaluated == before + counted
    monkeypatch.setattr(size_samples, "_MAX_EVALUATED", samples._evaluated)
    with pytest.raises(DeclinedError, match="too much of sizes"):
        samples._that_satisfy(list(reversed(conditions)), table)


def test_sizes_of_rare_kinds_are_found() -> None:
    """Each condition holds for a few sizes of one symbol; together, for hardly any row drawn."""
    env, (n, m) = environment()
    quotients = [(n, 8, 1), (n, 16, 0), (n, 32, 0), (m, 16, 1), (m, 32, 1)]
    conditions = [
        Condition(sympy.Eq(PythonMod(-FloorDiv(-of, part), 2), rest), True)
        for of, part, rest in quotients
    ]
    rows = SizeSamples(env, {}).rows(conditions, n * m)
    assert len(rows) > 20
    for row in rows:
        for of, part, rest in quotients:
            assert -(-row[of] // part) % 2 == rest


def test_sizes_that_are_sums_of_others_are_found() -> None:
    env = ShapeEnv(duck_shape=False)
    examples = {"a": 7, "b": 11, "c": 18, "d": 3, "e": 15, "f": 22}
    a, b, c, d, e, f = (
        env.create_symbol(size, ConstantSource(name), dynamic_dim=DimDynamic.DYNAMIC)
        for name, size in examples.items()
    )
    sums = [(c, a + b), (c, d + e), (f, 2 * b)]
    conditions = [Condition(sympy.Gt(a, 8), True)]
    conditions += [Condition(sympy.Eq(*each), True) for each in sums]
    rows = SizeSamples(env, {}).rows(conditions, a + d + f)
    assert len(rows) > 10
    for row in rows:
        assert row[c] == row[a] + row[b] == row[d] + row[e]
        assert row[f] == 2 * row[b]
        assert min(row.values()) >= 2


def test_an_equation_is_solved_for_a_size_that_is_a_sum() -> None:
    a, b, c = sympy.symbols("a b c", integer=True)
    assert solutions((sympy.Eq(a, b + c),)) == {a: b + c}
    assert solutions((sympy.Eq(b, a - c),)) == {a: b + c}
    assert solutions((sympy.Eq(a, b), sympy.Eq(b + c, 4))) in (
        {a: 4 - c, b: 4 - c},
        {a: b, c: 4 - b},
    )
    assert solutions((sympy.Eq(2 * a, 3 * b),)) == {}
    assert solutions((sympy.Eq(a * b, a),)) == {}


def test_conditions_that_deny_each_other_by_equal_sizes() -> None:
    a, b, c, d = sympy.symbols("a b c d", integer=True)
    equal = [(sympy.Eq(a, b), True), (sympy.Ne(b, c), False)]
    empty, full = (sympy.Eq(16 * a * d, 0), True), (sympy.Eq(16 * d * c, 0), False)
    assert contradict([empty, *equal, full])
    assert contradict([empty, full, *equal])
    assert contradict([*equal, (sympy.Ne(a, c), True)])
    assert not contradict([empty, full])
    assert not contradict([*equal, empty, (sympy.Eq(d, 0), False)])
    assert not contradict([*equal, (sympy.Gt(a, c), False)])
