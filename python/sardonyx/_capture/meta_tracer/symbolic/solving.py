"""What was asked of sizes is checked against what the user said of them, as torch.export does."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from sardonyx._capture.guards.guards import asked_by_model
from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._torch_private import questions as torch_questions
from sardonyx._torch_private import sizes as torch_sizes

from .relations import leaves_sizes_open


@contextmanager
def hearing_the_model() -> Iterator[set[Any]]:
    """Within it, what the model's own code asks of sizes goes into the set: `range(length // 64)`,
    or a branch. torch.export hears the same question there, and answers it alike."""
    heard: set[Any] = set()

    def hear(_: Any, relation: Any) -> None:
        if asked_by_model():
            heard.add(torch_sizes.canonical_relation(relation))

    with torch_questions.watching_questions(hear):
        yield heard


_hearing: list[Callable[[Collection[str]], None]] = []


@contextmanager
def hearing_fixed_sizes(hear: Callable[[Collection[str]], None]) -> Iterator[None]:
    """Within it, `hear` is called with the names of sizes of inputs ("L['x'].size()[0]") of which
    an answer fixes what is computed, before fake-tensor tracing declines such a model."""
    _hearing.append(hear)
    try:
        yield
    finally:
        _hearing.remove(hear)


def solve(
    fake_mode: Any,
    by_torch: Callable[[], None],
    by_model: Collection[Any] = (),
    left_to_model: Collection[Any] = (),
) -> str:
    """Runs torch.export's own check, which raises where the user said otherwise of a size.

    Declines questions whose answer fixes sizes in ways that the program's ranges do not say, but
    for those that the model asked. Where such a question is of the symbols `left_to_model` alone,
    it is returned in words; empty where there is none.
    """
    env = fake_mode.shape_env
    if env is None:
        return ""
    doubt = ""
    # Bounds of sizes that no equation fixes are needed only for suggestions, which torch.export
    # reports. Equations that sympy cannot solve make torch.export fail: `x / 320 == x // 40 // 8`
    # says what x is divided by, and fixes nothing. They are checked below with the other guards.
    with torch_sizes.solving_equations_alone(_is_solvable):
        by_torch()
    asserted = [each for asserts in env.deferred_runtime_asserts.values() for each in asserts]
    # What is false of other sizes is an error there where PyTorch asserts it; where it was asked,
    # something hangs on the answer.
    asked = [guard.expr for guard in env.guards]
    asked += [each.expr for each in asserted if each.msg.startswith(_ASKED)]
    # torch.export asserts what it could not solve, and learns from that which sizes are equal.
    known = [each.expr for each in asserted]
    equal = (each for each in _equal_sizes(asked, known))
    taken = (each for each in equal if env.replace(each).free_symbols.issubset(left_to_model))
    for relation in (*known, *taken):
        env.guard_or_defer_runtime_assert(env.replace(relation), "assert")
    multiples = _multiples([env.replace(relation) for relation in asked])
    for relation in asked:
        if torch_sizes.symbols_of_data(relation):  # what the model asserts of data
            continue
        if torch_sizes.canonical_relation(relation) in by_model:
            continue
        # With the equalities and divisors of sizes that were found since.
        known = env.replace(relation)
        if not leaves_sizes_open(known.xreplace(multiples)):
            names = torch_sizes.names_of_sizes(env, known.free_symbols)
            for hear in _hearing:
                hear(names)
            text = f"the model asks of its sizes whether {relation}"
            if not (relation.free_symbols | known.free_symbols).issubset(left_to_model):
                raise DeclinedError(text)
            doubt = doubt or text
    return doubt


# How ShapeEnv begins the messages of assertions that were questions.
_ASKED = "evaluate_expr"


def _equal_sizes(asked: Collection[Any], asserted: Collection[Any]) -> Iterator[Any]:
    """The equalities of two sizes whose quotient is 1 and leaves no remainder: in
    `positions.view(-1, n)` of one row, the number of positions is n."""
    import sympy

    exact = {each.lhs.args for each in asserted if _is_exact_quotient(each)}
    for each in asked:
        if isinstance(each, sympy.Equality) and each.rhs == 1:
            sizes = each.lhs.args
            if type(each.lhs).__name__ == "FloorDiv" and sizes in exact:
                yield sympy.Eq(*sizes)


def _is_exact_quotient(relation: Any) -> bool:
    """Whether it says that one size is a multiple of another: `Mod(n, 8) == 0`."""
    import sympy

    is_of_remainder = type(getattr(relation, "lhs", None)).__name__ in {"Mod", "PythonMod"}
    return isinstance(relation, sympy.Equality) and relation.rhs == 0 and is_of_remainder


def _multiples(relations: Collection[Any]) -> dict[Any, Any]:
    """The sizes that have to be multiples of numbers (`Mod(s, 8) == 0`), as these multiples."""
    import sympy

    divisors: dict[Any, int] = {}
    for each in relations:
        if not _is_exact_quotient(each):
            continue
        size, divisor = each.lhs.args
        if size.is_Symbol and divisor.is_Integer and divisor > 0:
            divisors[size] = math.lcm(divisors.get(size, 1), int(divisor))
    return {
        size: divisor * sympy.Symbol(f"{size}_{divisor}", integer=True, positive=size.is_positive)
        for size, divisor in divisors.items()
    }


def _is_solvable(relation: Any, symbol: Any) -> bool:
    from sympy.solvers.inequalities import reduce_inequalities

    try:
        reduce_inequalities([relation], symbol)
    except NotImplementedError:
        return False
    return True
