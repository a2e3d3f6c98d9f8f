"""Equations of sizes with rounded quotients and remainders by numbers, decided for all sizes.

With s = n·q + r, where n is a multiple of every number that s is divided by, what is rounded are
polynomials in q: one for each r. One holds of all sizes if it does of each of these.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import sympy

_MAX_CASES = 512


class _UnknownError(Exception):
    """Something that is no polynomial, whatever is left over."""


@functools.lru_cache(4096)
def always_holds(equality: sympy.Equality) -> bool:
    """Whether it holds for sizes from 1 on, or from 0 where these are allowed. False also where
    that is not known."""
    if sympy.expand(equality.lhs - equality.rhs) == 0:  # whatever its quotients are
        return True
    symbols = sorted(equality.free_symbols, key=str)
    for join, is_of_innermost in ((math.lcm, True), (math.lcm, False), (_product, False)):
        parts = _rounded(equality, is_of_innermost=is_of_innermost)
        periods = [_period(parts, symbol, join) for symbol in symbols]
        if math.prod(periods) > _MAX_CASES:
            continue
        try:
            return all(
                _holds(equality, _values(symbols, periods, rests))
                for rests in itertools.product(*map(range, periods))
            )
        except _UnknownError:
            continue
    return False


@functools.lru_cache(4096)
def chosen(size: Any) -> Any:
    """A maximum or minimum of two sizes as the one that it is for all sizes from 0 on; as it is
    where no one is, or none is known."""
    if _name(size) not in {"Max", "Min"} or len(size.args) != 2:
        return size
    first, second = size.args
    larger, smaller = (first, second) if _is_never_less(first, second) else (second, first)
    if larger is second and not _is_never_less(second, first):
        return size
    return larger if _name(size) == "Max" else smaller


def _is_never_less(size: Any, other: Any) -> bool:
    difference = size - other
    symbols = sorted(difference.free_symbols, key=str)
    if not all(each.is_integer and each.is_nonnegative for each in symbols):
        return False
    parts = _rounded(difference, is_of_innermost=False)
    periods = [_period(parts, symbol, _product) for symbol in symbols]
    if math.prod(periods) > _MAX_CASES:
        return False
    try:
        return all(
            _is_at_least(_polynomial(difference, _values(symbols, periods, rests, least=0)), 0)
            for rests in itertools.product(*map(range, periods))
        )
    except _UnknownError:
        return False


@functools.lru_cache(4096)
def exact_quotient(size: Any, divisor: Any) -> Any:
    """What a size is divided by one that it is a multiple of, for all values of the quotients and
    remainders in both; None where it is no multiple as a polynomial in these."""
    atoms: dict[Any, Any] = {}

    def polynomial(part: Any) -> Any:
        if part.is_Integer:
            return part
        is_power = part.is_Pow and part.args[1].is_Integer and part.args[1] >= 0
        if part.is_Add or part.is_Mul:
            return part.func(*map(polynomial, part.args))
        if is_power:
            return part.func(polynomial(part.args[0]), part.args[1])
        return atoms.setdefault(part, sympy.Dummy(integer=True))

    dividend, by = sympy.expand(polynomial(size)), sympy.expand(polynomial(divisor))
    if not by.free_symbols <= dividend.free_symbols or not by.free_symbols:
        return None
    quotient, rest = sympy.div(dividend, by, *sorted(dividend.free_symbols, key=str))
    if rest != 0 or not _has_integers(sympy.expand(quotient)):
        return None
    return quotient.xreplace({dummy: part for part, dummy in atoms.items()})


def _values(
    symbols: list[Any], periods: list[int], rests: tuple[int, ...], *, least: int | None = None
) -> dict[Any, Any]:
    """Each symbol as a polynomial in its quotient, from its least value on."""
    values = {}
    for symbol, period, rest in zip(symbols, periods, rests, strict=True):
        first = (1 if symbol.is_positive else 0) if least is None else least
        turns = -(-max(first - rest, 0) // period)
        values[symbol] = period * (_quotient(symbol) + turns) + rest
    return values


def _quotient(symbol: Any) -> Any:
    return sympy.Symbol(f"q_{symbol}", integer=True, nonnegative=True)


def _rounded(equality: sympy.Basic, *, is_of_innermost: bool) -> list[Any]:
    """The quotients and remainders by numbers; those that have no others within, or all."""
    parts = [part for part in sympy.preorder_traversal(equality) if _name(part) in _ROUNDING]
    if is_of_innermost:
        parts = [part for part in parts if not _rounded(part.args[0], is_of_innermost=False)]
    return [part for part in parts if part.args[1].is_Integer]


def _period(parts: list[Any], symbol: Any, join: Callable[..., int]) -> int:
    """A multiple of the numbers by which something with the symbol in it is divided, which is often
    enough; where quotients are divided again, it takes their product."""
    divisors = [int(part.args[1]) for part in parts if symbol in part.free_symbols]
    return join(*divisors) if divisors else 1


def _product(*numbers: int) -> int:
    return math.prod(numbers)


def _name(part: Any) -> str:
    return type(part).__name__


_ROUNDING = frozenset({"FloorDiv", "Mod", "PythonMod"})


def _holds(equality: sympy.Equality, values: dict[Any, Any]) -> bool:
    return bool(_polynomial(equality.lhs - equality.rhs, values) == 0)


def _is_at_least(polynomial: Any, least: int) -> bool:
    """Of a polynomial in symbols that are 0 or more."""
    constant = _constant(polynomial)
    others = (polynomial - constant).as_ordered_terms() if polynomial != constant else []
    return constant >= least and all(term.as_coeff_Mul()[0] >= 0 for term in others)


def _constant(polynomial: Any) -> Any:
    return polynomial.subs(dict.fromkeys(polynomial.free_symbols, 0))


def _polynomial(expression: Any, values: dict[Any, Any]) -> Any:
    if expression.is_Integer:
        return expression
    if expression.is_Symbol:
        return sympy.expand(values[expression])
    args = [_polynomial(each, values) for each in expression.args]
    name = _name(expression)
    if expression.is_Add or expression.is_Mul:
        return sympy.expand(expression.func(*args))
    if expression.is_Pow and args[1].is_Integer and args[1] >= 0:
        return sympy.expand(expression.func(*args))
    if name in _ROUNDING:
        quotient, rest = _divided(*args)
        return quotient if name == "FloorDiv" else rest
    if name in {"Max", "Min"}:
        return _extreme(args, is_greatest=name == "Max")
    raise _UnknownError


def _divided(value: Any, by: Any) -> tuple[Any, Any]:
    """The rounded quotient and the rest."""
    if by.is_Integer and by > 0:
        constant = _constant(value)
        quotient = sympy.expand((value - constant) / by)
        if not _has_integers(quotient):
            raise _UnknownError
        return quotient + constant // by, constant % by
    if not by.free_symbols:
        raise _UnknownError
    quotient, rest = sympy.div(value, by, *sorted(by.free_symbols, key=str))
    if not _has_integers(quotient):
        raise _UnknownError
    if not _is_at_least(rest, 0):  # it may be a little below a multiple
        quotient, rest = quotient - 1, sympy.expand(rest + by)
    if not _is_at_least(rest, 0) or not _is_at_least(sympy.expand(by - rest), 1):
        raise _UnknownError
    return quotient, rest


def _has_integers(polynomial: Any) -> bool:
    return all(term.as_coeff_Mul()[0].is_Integer for term in sympy.Add.make_args(polynomial))


def _extreme(values: list[Any], *, is_greatest: bool) -> Any:
    best = values[0]
    for other in values[1:]:
        difference = sympy.expand(other - best) if is_greatest else sympy.expand(best - other)
        if _is_at_least(difference, 0):
            best = other
        elif not _is_at_least(-difference, 0):
            raise _UnknownError
    return best
