"""Sizes that are padded or cut to a multiple, in one form: `k * (...)`.

Models pad by what is missing: `n + (k - n % k) % k`, `n + n % 2`. sympy does not see that this is
a multiple of k, so that quotients, products and remainders of it grow with each layer.
"""

from __future__ import annotations

import functools
from typing import Any

import sympy

from sardonyx._torch_private.sizes import rounded_quotient

_REMAINDERS = frozenset({"Mod", "PythonMod"})


@functools.lru_cache(4096)
def as_multiple(size: Any) -> Any:
    """The same size for all values of its symbols: `n - n % k` as `k * (n // k)`, and `n + -n % k`
    as `k * ((n + k - 1) // k)`."""
    if not isinstance(size, sympy.Add):
        return size
    for term in size.args:
        sign, remainder = term.as_coeff_Mul()
        if abs(sign) != 1 or not _is_remainder(remainder):
            continue
        of, divisor = remainder.args
        rest = size - term
        if not _is_multiple(rest + sign * of, divisor):
            continue
        if sign == -1:
            return as_multiple(divisor * rounded_quotient(rest, divisor))
        return divisor * rounded_quotient(rest + divisor - 1, divisor)
    return size


def _is_remainder(size: Any) -> bool:
    return (
        type(size).__name__ in _REMAINDERS
        and isinstance(size.args[1], sympy.Integer)
        and size.args[1] > 1
    )


def _is_multiple(size: Any, divisor: Any) -> bool:
    """Whether each of its terms is one."""
    terms = sympy.Add.make_args(_up_to_multiples(size, divisor))
    return all((term / divisor).is_integer for term in terms)


def _up_to_multiples(size: Any, divisor: Any) -> Any:
    """The sum with what remainders by the divisor are left of in their place: it differs from them
    by multiples."""
    terms = []
    for term in sympy.Add.make_args(sympy.expand_mul(size)):
        factor, rest = term.as_coeff_Mul()
        if _is_remainder(rest) and rest.args[1] % divisor == 0:
            terms.append(sympy.expand_mul(factor * _up_to_multiples(rest.args[0], divisor)))
        else:
            terms.append(term)
    return sympy.Add(*terms)
