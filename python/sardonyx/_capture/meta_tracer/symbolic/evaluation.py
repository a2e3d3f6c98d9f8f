"""Expressions and relations of sizes as functions of their symbols' sizes.

Branches on sizes evaluate one expression for hundreds of samples. sympy rebuilds the expression for
each; a compiled function takes microseconds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

# Takes the sizes of the symbols. Raises what Python raises: ZeroDivisionError; ValueError for the
# logarithm of 0, and for whatever has no real value; OverflowError.
Evaluator = Callable[[Mapping[Any, int]], "int | float | bool"]

# Python's operators by the names of sympy's and PyTorch's classes. All operands are numbers, or all
# are truths.
_OPERATORS = {
    "Add": " + ",
    "Mul": " * ",
    "FloorDiv": " // ",
    "CleanDiv": " // ",
    "IntTrueDiv": " / ",
    "FloatTrueDiv": " / ",
    "Mod": " % ",
    "PythonMod": " % ",
    "Equality": " == ",
    "Unequality": " != ",
    "StrictLessThan": " < ",
    "LessThan": " <= ",
    "StrictGreaterThan": " > ",
    "GreaterThan": " >= ",
    "And": " and ",
    "Or": " or ",
}
POWERS = frozenset({"Pow", "PowByNatural"})
_FUNCTIONS = {
    "Max": "max",
    "Min": "min",
    "Abs": "abs",
    "ToFloat": "float",
    "RoundToInt": "round",
    "TruncToInt": "int",
    "FloorToInt": "math.floor",
    "CeilToInt": "math.ceil",
    "FloatPow": "math.pow",
    "PowByNatural": "natural_power",
}
# PyTorch's names for functions of the module math.
OF_MATH = "OpaqueUnaryFn_"
_MAX_TERMS = 5_000
_MAX_BITS = 62  # of a power whose exponent is a size


def natural_power(base: int, exponent: int) -> int:
    """The power of a size that is no number. ValueError for what is no size."""
    if exponent < 0 or exponent * (abs(base) - 1).bit_length() > _MAX_BITS:
        raise ValueError(f"{base} to the power of {exponent}")
    return int(base**exponent)


# As they are while no model is captured, where others take symbolic sizes, too.
_NAMES = {"max": max, "min": min, "natural_power": natural_power}


class _UnsupportedError(Exception):
    """An operator that is not known here."""


@functools.lru_cache(maxsize=2_000)
def evaluator(expression: Any) -> Evaluator | None:
    """The function of an expression; None where it has operators that Python's numbers lack."""
    lines = _Lines()
    try:
        result = lines.name_of(expression)
    except _UnsupportedError:
        return None
    source = "\n".join(["def evaluate(sizes):", *lines.lines, f"    return {result}"])
    scope: dict[str, Any] = {"symbols": lines.symbols, "math": math, **_NAMES}
    exec(compile(source, "<sizes>", "exec"), scope)
    made: Evaluator = scope["evaluate"]
    return made


class _Lines:
    """Statements that compute each part of an expression once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.symbols: list[Any] = []
        self._names: dict[Any, str] = {}

    def name_of(self, expression: Any) -> str:
        """The variable or number that an expression is, computed by the lines so far."""
        known = self._names.get(expression)
        if known is None:
            known = self._names[expression] = self._computed(expression)
        return known

    def _computed(self, expression: Any) -> str:
        kind = type(expression).__name__
        if len(self.lines) > _MAX_TERMS:
            raise _UnsupportedError(kind)
        if expression.is_Integer:
            return f"({int(expression)})"
        if expression.is_Float and expression.is_finite:
            return f"({float(expression)!r})"
        if kind in {"BooleanTrue", "BooleanFalse"}:
            return str(bool(expression))
        if expression.is_Symbol:
            if not expression.is_integer:
                raise _UnsupportedError(kind)
            self.symbols.append(expression)
            return self._variable(f"sizes[symbols[{len(self.symbols) - 1}]]")
        return self._variable(self._operation(kind, expression.args))

    def _operation(self, kind: str, args: tuple[Any, ...]) -> str:
        if kind in POWERS and args[1].is_Integer and args[1].is_nonnegative:
            return f"{self.name_of(args[0])} ** {self.name_of(args[1])}"
        if kind == "Not":
            return f"not {self.name_of(args[0])}"
        names = [self.name_of(arg) for arg in args]
        if kind in _FUNCTIONS:
            return f"{_FUNCTIONS[kind]}({', '.join(names)})"
        if kind.startswith(OF_MATH) and hasattr(math, kind.removeprefix(OF_MATH)):
            return f"math.{kind.removeprefix(OF_MATH)}({', '.join(names)})"
        if kind == "ModularIndexing":
            return "{} // {} % {}".format(*names)
        if kind not in _OPERATORS:
            raise _UnsupportedError(kind)
        return _OPERATORS[kind].join(names)

    def _variable(self, value: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name} = {value}")
        return name
