"""Questions that operators ask of sizes, and that change no size of their results.

An average over windows of 16 asks whether `h // 16` is 1, to choose the order of its result in
memory. Taken as an answer, that is a bound of h. So the question is asked again: for sizes with
another answer the operator is run on meta tensors, and either its result has the sizes that were
captured, or PyTorch raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import torch

from sardonyx._capture.meta_tracer.symbolic.relations import numbers_of
from sardonyx._capture.meta_tracer.symbolic.size_tables import Row, truth_of
from sardonyx._capture.shapes.sampled_sizes import values_at
from sardonyx._torch_private import questions as torch_questions
from sardonyx._torch_private import sizes as torch_sizes
from sardonyx._torch_private.fake_tensors import uncached

_SIZES = (2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 1000)
_MAX_SYMBOLS = 3
_MAX_QUESTIONS = 12
_MAX_ROWS = 5

# What hears a question of the operator that runs, the innermost last.
_hearing: list[Callable[[Any], None]] = []

_SAME, _OTHER, _RAISES, _UNKNOWN = "same", "other", "raises", "unknown"


def may_be_immaterial(relation: Any) -> bool:
    """Whether the operator that runs may be given the example's answer to a question, since it runs
    again where another answer changes its result."""
    if not _hearing:
        return False
    _hearing[-1](relation)
    return True


def unanswered(mode: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """The operator's result for fake tensors, where its questions change none; the ShapeEnv learns
    its checks alone. None where an answer may change the result."""
    env = mode.shape_env
    known = torch_sizes.example_sizes(env).keys()
    count = 0

    def check_undecided(relation: Any) -> None:
        nonlocal count
        count += 1
        if count > _MAX_QUESTIONS or not _may_be_immaterial(relation, known):
            raise _MaterialQuestionError

    heard = torch_questions.answering_without_learning(env, check_undecided)
    try:
        with heard as relations, uncached(mode), mode:

            def hear(relation: Any) -> None:
                if relation not in relations:
                    check_undecided(relation)
                    relations.append(relation)

            _hearing.append(hear)
            try:
                given = func(*args, **kwargs)
            finally:
                _hearing.pop()
    except (Exception, _MaterialQuestionError):  # the operator runs again, and learns
        return None
    if not relations:
        return given
    checks = _checks(env, func, (args, kwargs), given, relations)
    if checks is None:
        return None
    for relation in checks:
        torch_sizes.check(env, relation)
    return given


class _MaterialQuestionError(BaseException):
    """An operator's answer may change its result: the rest of its run is left out. PyTorch catches
    no such exception, and so reports none."""


def _may_be_immaterial(relation: Any, known: AbstractSet[Any]) -> bool:
    """Whether it is no equality, of sizes that the example has."""
    import sympy

    return not isinstance(relation, sympy.Equality) and known >= relation.free_symbols


def _checks(
    env: Any, func: Any, inputs: tuple[Any, Any], given: Any, relations: Sequence[Any]
) -> list[Any] | None:
    """Those of the relations beyond which PyTorch raises, if all others change no result."""
    known = {symbol: int(size) for symbol, size in torch_sizes.example_sizes(env).items()}
    checks, taken = [], []
    for relation in relations:
        rows = [(row, _outcome(func, inputs, given, row)) for row in _others(relation, known)]
        outcomes = {outcome for _, outcome in rows} - {_UNKNOWN}
        if not outcomes or _OTHER in outcomes:
            return None
        if outcomes == {_RAISES}:
            checks.append(relation)
        else:
            taken += [row for row, outcome in rows if outcome == _RAISES]
    denied = [truth_of(each) for each in checks]
    if all(any(truth(row) is False for truth in denied) for row in taken):
        return checks
    return None


def _others(relation: Any, known: Mapping[Any, int]) -> Iterator[Row]:
    """A few rows of sizes for which the relation is false. Other symbols keep the example's."""
    symbols = sorted(relation.free_symbols, key=str)
    if not symbols or len(symbols) > _MAX_SYMBOLS:
        return
    truth = truth_of(relation)
    numbers = {n for n in numbers_of(relation) if 1 < abs(n) <= max(_SIZES)}
    sizes = sorted({*_SIZES, *(abs(n) + d for n in numbers for d in (-1, 0, 1))} - {0, 1})
    rows = [{**known, symbol: size} for symbol in symbols for size in sizes]
    rows += [{**known, **dict.fromkeys(symbols, size)} for size in sizes]
    found = [row for row in rows if truth(row) is False]
    step = max(1, len(found) // _MAX_ROWS)
    yield from found[::step]


def _outcome(func: Any, inputs: tuple[Any, Any], given: Any, row: Row) -> str:
    """What PyTorch gives for sizes, beside the results that were captured."""
    try:
        (args, kwargs), captured = (values_at(each, row) for each in (inputs, given))
    except (ArithmeticError, LookupError, RuntimeError, ValueError):
        return _UNKNOWN  # no such tensors reach the operator
    if "device" in kwargs:
        kwargs["device"] = "meta"
    try:
        made = func(*args, **kwargs)
    except Exception:
        return _RAISES
    return _SAME if _layout(made) == _layout(captured) else _OTHER


def _layout(value: Any) -> Any:
    """The types and sizes of all results."""
    if isinstance(value, (list, tuple)):
        return [_layout(each) for each in value]
    if isinstance(value, torch.Tensor):
        return value.dtype, tuple(value.shape)
    return value
