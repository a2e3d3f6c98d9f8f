"""What was asked of sizes: whether the answer leaves them open."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import suppress
from typing import Any


def fixes_sizes(relation: Any) -> bool:
    """Whether it makes a size, or a quotient, product or least of sizes, a number."""
    import sympy

    return isinstance(relation, sympy.Equality) and not leaves_sizes_open(relation)


_QUOTIENTS = frozenset({"FloorDiv", "CleanDiv", "CeilDiv"})


def fixes_quotient(relation: Any) -> bool:
    """Whether it makes a rounded quotient of sizes a number: `(n // 4 + 7) // 8 == 1` says that
    there is one window, and what follows is computed for one."""
    if not fixes_sizes(relation):
        return False
    import sympy

    size = relation.lhs if relation.lhs.free_symbols else relation.rhs
    return any(
        type(factor).__name__ in _QUOTIENTS
        for term in sympy.Add.make_args(size)
        for factor in sympy.Mul.make_args(term)
    )


def relates_computed_sizes(relation: Any) -> bool:
    """Whether it takes what is computed of sizes for another size: `m * (n // m) == m`, as a sum of
    tensors of these sizes asks. Where it says what one symbol is by the others, inputs have the one
    size for the other afterwards, which callers see. One of a single size, as of an image that is
    halved and doubled, holds or PyTorch raises."""
    import sympy

    if not isinstance(relation, sympy.Equality) or len(relation.free_symbols) == 1:
        return False
    sides = ((relation.lhs, relation.rhs), (relation.rhs, relation.lhs))
    if not all(each.free_symbols for each in sides[0]):
        return False
    if _says_a_symbol(relation) or _is_so_of_multiples(relation):
        return False
    return not any(_is_bounded(one, other) for one, other in sides)


def _says_a_symbol(equality: Any) -> bool:
    """Whether it is `symbol = …` of other symbols, as `past + n == n + other` is."""
    rest = (equality.lhs - equality.rhs).expand()
    return any(
        abs(rest.coeff(each)) == 1 and each not in (rest - rest.coeff(each) * each).free_symbols
        for each in rest.free_symbols
    )


def _is_bounded(size: Any, other: Any) -> bool:
    """Whether `other` is the size up to a number, or from one on, as `Min(512, n)` of a table's
    rows is: PyTorch raises beyond it, too."""
    return (
        type(other).__name__ in {"Max", "Min"}
        and size in other.args
        and all(each.is_number for each in other.args if each != size)
    )


def _is_so_of_multiples(equality: Any) -> bool:
    """Whether it is so where every quotient by a number has no rest, as `h * w == 4 * (h // 2) *
    (w // 2)` is: a view of any other number of elements is an error in PyTorch, too."""
    exact = (equality.lhs - equality.rhs).replace(
        lambda part: type(part).__name__ == "FloorDiv" and part.args[1].is_number,
        lambda part: part.args[0] / part.args[1],
    )
    return bool(exact.expand() == 0)


# The largest number in a relation that may be a period.
_MAX_PERIOD = 512


def excludes_large_sizes(relation: Any) -> bool:
    """Whether an equality of a size and what is computed of it holds for no large sizes:
    `n % 7 == n` says that n is below 7. That n is a multiple, some large sizes satisfy."""
    import sympy

    if not isinstance(relation, sympy.Equality) or len(relation.free_symbols) != 1:
        return False
    if not (relation.lhs.free_symbols and relation.rhs.free_symbols):
        return False
    numbers = {abs(int(each)) for each in relation.atoms(sympy.Integer)}
    largest = max(numbers, default=1)
    if largest > _MAX_PERIOD:
        return False
    (symbol,) = relation.free_symbols
    first = 4 * (largest + 1) ** 2
    sizes = range(first, first + 2 * largest + 2)
    return not any(at_sizes(relation, {symbol: size}) == sympy.true for size in sizes)


def leaves_sizes_open(relation: Any) -> bool:
    """Whether it bounds sizes, relates some to others, excludes some, or is always so. Whether a
    size is a multiple leaves it open; that a remainder is 1 makes it a number.

    A quotient, product or least of sizes that has to be a number fixes them, or nearly so:
    torch.export may then take them for numbers where fake-tensor tracing does not ask.
    """
    import sympy

    from .periodic import always_holds  # needs sympy, which comes with torch

    if isinstance(relation, (sympy.And, sympy.Or)):
        return all(map(leaves_sizes_open, relation.args))
    if not isinstance(relation, sympy.Equality):
        return True
    sides = (relation.lhs, relation.rhs)
    is_of_number = any(not side.free_symbols for side in sides)
    is_of_rest = any(type(side).__name__ in {"Mod", "PythonMod"} for side in sides)
    is_multiple = is_of_rest and any(side == 0 for side in sides)
    return not is_of_number or is_multiple or always_holds(relation)


# Larger ones say nothing of sizes.
_LARGEST = 1 << 40


@functools.lru_cache(maxsize=1 << 12)
def numbers_of(relation: Any) -> frozenset[int]:
    """The whole numbers in a relation, and those near them divided by its real ones:
    `round(n * 0.25) == 8` changes near 32."""
    import sympy

    whole = {int(each) for each in relation.atoms(sympy.Integer) if abs(each) < _LARGEST}
    numbers = relation.atoms(sympy.Float, sympy.Rational)
    reals = [real for each in numbers if not each.is_Integer and (real := float(each))]
    quotients = {(n + d) / real for real in reals for n in whole for d in (-1, 0, 1)}
    return frozenset(whole.union(round(each) for each in quotients if abs(each) < _LARGEST))


def denied(relation: Any) -> Any:
    """What is so where the relation is not; None of floating numbers, where NaN makes neither."""
    import sympy

    if any(not each.is_integer for each in relation.free_symbols):
        return None
    return sympy.Not(relation)


def at_sizes(expression: Any, sizes: Mapping[Any, int]) -> Any:
    """The expression or relation where its symbols are these; None where it has no value, as a
    division by zero and the logarithm of 0 have none."""
    import sympy

    from .evaluation import evaluator

    try:
        if (evaluate := evaluator(expression)) is not None:
            with suppress(KeyError):  # a symbol whose size is not among these
                found = evaluate(sizes)
                return sympy.Float(found) if isinstance(found, float) else sympy.S(found)
        return expression.xreplace({each: sympy.Integer(size) for each, size in sizes.items()})
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
