"""Many samples of sizes as columns, and relations of sizes evaluated for all of them at once.

Captures of branches on sizes evaluate thousands of relations for hundreds of samples each. numpy
does in microseconds what Python does in milliseconds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .evaluation import OF_MATH, POWERS, evaluator, natural_power
from .relations import at_sizes

# A size for each symbol.
Row = dict[Any, int]
# A number or truth for each row.
Column = NDArray[Any]

# Larger integers may overflow in numpy, and not in Python.
_MAX_INTEGER = 1 << 62
# Larger ones numpy rounds where it compares them with real numbers, and divides them.
_MAX_EXACT = 1 << 53
_MAX_STEPS = 5_000


class SizeTable:
    """Sizes of the same symbols, row by row.

    Attributes:
        columns: for each symbol, its size in every row: int64, of one dimension.
    """

    def __init__(self, columns: Mapping[Any, Column], length: int) -> None:
        self.columns = dict(columns)
        self._length = length
        self._largest: dict[Any, int] = {}

    @classmethod
    def of_rows(cls, rows: Sequence[Row], symbols: Sequence[Any]) -> SizeTable:
        """A table of rows that have these symbols."""
        columns = {each: np.array([row[each] for row in rows], dtype=np.int64) for each in symbols}
        return cls(columns, len(rows))

    @classmethod
    def joined(cls, tables: Sequence[SizeTable]) -> SizeTable:
        """The rows of each, one after the other. All have the same symbols."""
        columns = {
            each: np.concatenate([table.columns[each] for table in tables])
            for each in tables[0].columns
        }
        return cls(columns, sum(map(len, tables)))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Row]:
        return map(self.row, range(self._length))

    def row(self, index: int) -> Row:
        """The sizes in one row."""
        return {each: int(column[index]) for each, column in self.columns.items()}

    def where(self, mask: Column) -> SizeTable:
        """The rows for which the mask is true."""
        count = int(np.count_nonzero(mask))
        if count == self._length:
            return self
        return SizeTable({each: column[mask] for each, column in self.columns.items()}, count)

    def largest(self, symbol: Any) -> int:
        """The largest amount of a symbol's sizes."""
        if symbol not in self._largest:
            column = self.columns[symbol]
            self._largest[symbol] = int(np.abs(column).max()) if self._length else 0
        return self._largest[symbol]


class Outcomes(NamedTuple):
    """What a relation is in each row of a table: true, or false where it is known at all."""

    is_true: Column
    is_false: Column

    @property
    def answers(self) -> set[bool | None]:
        """All that it is; None where it is neither true nor false."""
        found: set[bool | None] = set()
        if self.is_true.any():
            found.add(True)
        if self.is_false.any():
            found.add(False)
        if not (self.is_true | self.is_false).all():
            found.add(None)
        return found


def outcomes(relation: Any, table: SizeTable) -> Outcomes:
    """What the relation is in each row."""
    values = _values(relation, table)
    if values is not None and values.numbers.dtype == bool:
        is_true = values.numbers & values.is_known
        return Outcomes(is_true, ~values.numbers & values.is_known)
    truth = truth_of(relation)
    truths = [truth(row) for row in table]
    return Outcomes(
        np.array([each is True for each in truths], dtype=bool),
        np.array([each is False for each in truths], dtype=bool),
    )


def one_value(expression: Any, table: SizeTable) -> Any:
    """What an expression is in each row, as sympy's number or truth, where that is the same."""
    if not len(table):
        return None
    first = at_sizes(expression, table.row(0))
    if first is None:
        return None
    values = _values(expression, table)
    if values is None:
        return first if _is_everywhere(expression, first, table) else None
    is_same = values.is_known.all() and (values.numbers == values.numbers[0]).all()
    return first if is_same else None


def _is_everywhere(expression: Any, value: Any, table: SizeTable) -> bool:
    # Thousands of rows: sympy is left out.
    if (evaluate := evaluator(expression)) is not None:
        try:
            known = evaluate(table.row(0))
            return all(evaluate(row) == known for row in table)
        except (ArithmeticError, KeyError, ValueError):
            pass
    return all(at_sizes(expression, row) == value for row in table)


def integers_of(expression: Any, table: SizeTable) -> Column | None:
    """What an expression is in each row; None where it is no integer in some."""
    values = _values(expression, table)
    if values is None or values.numbers.dtype.kind != "i" or not values.is_known.all():
        return None
    return values.numbers


def truth_of(relation: Any) -> Callable[[Row], bool | None]:
    """What a relation is for sizes; None where it is neither true nor false."""
    evaluate = evaluator(relation)

    def by_sympy(row: Row) -> bool | None:
        import sympy

        found = at_sizes(relation, row)
        return bool(found) if found in (sympy.true, sympy.false) else None

    def by_function(row: Row) -> bool | None:  # thousands of times: no sympy for an answer
        assert evaluate is not None
        try:
            known = evaluate(row)
        except (ArithmeticError, ValueError):
            return None
        except KeyError:  # a symbol whose size is not among these
            return by_sympy(row)
        return known if isinstance(known, bool) else None

    return by_sympy if evaluate is None else by_function


class _Values(NamedTuple):
    """The values of an expression in each row, and where it has one."""

    numbers: Column
    is_known: Column


class _UnsupportedError(Exception):
    """An operator, or a number, with which numpy computes otherwise than Python."""


def _values(expression: Any, table: SizeTable) -> _Values | None:
    """Those of an expression; None where numpy computes otherwise than Python."""
    steps = _steps(expression)
    if steps is None or not len(table):
        return None
    made: list[_Operand] = []
    is_known = np.ones(len(table), dtype=bool)
    try:
        with np.errstate(all="ignore"):
            for step in steps:
                if step.operation is None:
                    made.append(_leaf(step.leaf, table))
                    continue
                operands = [made[each] for each in step.operands]
                if step.divides:
                    divisor = operands[1].numbers
                    is_zero = divisor == 0
                    if is_zero.any():
                        is_known &= ~is_zero
                        operands[1] = operands[1]._replace(numbers=np.where(is_zero, 1, divisor))
                result = step.operation(*operands)
                if result.unknown is not None:
                    is_known &= ~result.unknown
                made.append(result)
    except _UnsupportedError:
        return None
    numbers = made[-1].numbers
    return _Values(numbers if numbers.shape else np.broadcast_to(numbers, len(table)), is_known)


class _Operand(NamedTuple):
    numbers: Column
    largest: int  # the amount of no integer is above it
    unknown: Column | None = None  # the rows in which there is no value

    @property
    def is_real(self) -> bool:
        return self.numbers.dtype.kind == "f"


class _Step(NamedTuple):
    """A symbol, number or truth, or an operation on the results of steps before it."""

    leaf: Any
    operation: Callable[..., _Operand] | None
    operands: tuple[int, ...]
    divides: bool


def _leaf(leaf: Any, table: SizeTable) -> _Operand:
    if isinstance(leaf, (bool, int, float)):
        return _operand(np.asarray(leaf), abs(int(leaf)))
    if leaf not in table.columns:
        raise _UnsupportedError
    return _operand(table.columns[leaf], table.largest(leaf))


def _operand(numbers: Column, largest: int, unknown: Column | None = None) -> _Operand:
    """Integers, truths, or real numbers, which have to be finite."""
    if numbers.dtype.kind == "f":
        if not np.isfinite(numbers).all():
            raise _UnsupportedError
        largest = 0
    if largest > _MAX_INTEGER or numbers.dtype.kind == "O":
        raise _UnsupportedError
    return _Operand(numbers, largest, unknown)


def _check_exact(operands: Sequence[_Operand]) -> None:
    """That numpy's real numbers have the integers among these."""
    if any(each.is_real for each in operands) and any(
        each.largest > _MAX_EXACT for each in operands
    ):
        raise _UnsupportedError


def _joined(function: np.ufunc, operands: Sequence[_Operand], largest: int) -> _Operand:
    if largest > _MAX_INTEGER:
        raise _UnsupportedError
    _check_exact(operands)
    return _operand(functools.reduce(function, (each.numbers for each in operands)), largest)


def _sum(*operands: _Operand) -> _Operand:
    return _joined(np.add, operands, sum(each.largest for each in operands))


def _product(*operands: _Operand) -> _Operand:
    # Each factor counts: of the product of those so far, too.
    largest = math.prod(max(each.largest, 1) for each in operands)
    if largest > _MAX_INTEGER:
        largest = _largest_product([each.numbers for each in operands if not each.is_real])
    return _joined(np.multiply, operands, largest)


def _largest_product(factors: Sequence[Column]) -> int:
    """What no product of factors in one row is above: the quotient `n // m` is large in rows alone
    where m is small."""
    amounts = (np.maximum(np.abs(each.astype(np.float64)), 1) for each in factors)
    found = float(np.max(functools.reduce(np.multiply, amounts)))
    return int(found * (1 + 1e-9)) + 1 if math.isfinite(found) else _MAX_INTEGER + 1


def _power(*factors: _Operand) -> _Operand:
    _check_whole(factors)  # Python's power of real numbers is no product
    return _product(*factors)


def _check_whole(operands: Sequence[_Operand]) -> None:
    if any(each.is_real for each in operands):
        raise _UnsupportedError


def _quotient(value: _Operand, divisor: _Operand) -> _Operand:
    _check_whole((value, divisor))
    return _operand(value.numbers // divisor.numbers, value.largest + 1)


def _remainder(value: _Operand, divisor: _Operand) -> _Operand:
    _check_whole((value, divisor))
    return _operand(value.numbers % divisor.numbers, divisor.largest)


def _ratio(value: _Operand, divisor: _Operand) -> _Operand:
    if max(value.largest, divisor.largest) > _MAX_EXACT:
        raise _UnsupportedError
    return _operand(np.true_divide(value.numbers, divisor.numbers), 0)


def _amount(value: _Operand) -> _Operand:
    return _operand(np.abs(value.numbers), value.largest)


def _real(value: _Operand) -> _Operand:
    return _operand(value.numbers.astype(np.float64), 0)


def _extreme(function: np.ufunc) -> Callable[..., _Operand]:
    def chosen(*operands: _Operand) -> _Operand:
        if len({each.is_real for each in operands}) > 1:
            raise _UnsupportedError  # Python gives the operand as it is
        return _joined(function, operands, max(each.largest for each in operands))

    return chosen


def _truth(function: np.ufunc) -> Callable[..., _Operand]:
    def compared(*operands: _Operand) -> _Operand:
        _check_exact(operands)
        return _Operand(functools.reduce(function, (each.numbers for each in operands)), 1)

    return compared


def _denied(value: _Operand) -> _Operand:
    return _Operand(np.logical_not(value.numbers), 1)


def _by_python(function: Callable[..., int | float]) -> Callable[..., _Operand]:
    """The function of each row, as Python rounds it."""

    def computed(*operands: _Operand) -> _Operand:
        columns = np.broadcast_arrays(*(each.numbers for each in operands))
        values: dict[tuple[Any, ...], Any] = {}
        found = []
        for row in zip(*(each.ravel().tolist() for each in columns), strict=True):
            if row not in values:
                values[row] = _value(function, row)
            found.append(values[row])
        unknown = np.array([each is None for each in found]).reshape(columns[0].shape)
        numbers = np.array([0 if each is None else each for each in found])
        largest = max((abs(int(each)) for each in values.values() if each is not None), default=0)
        return _operand(numbers.reshape(columns[0].shape), largest, unknown)

    return computed


def _value(function: Callable[..., int | float], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except (ArithmeticError, ValueError):
        return None


# By the names of sympy's and PyTorch's classes.
_OPERATIONS: dict[str, Callable[..., _Operand]] = {
    "Add": _sum,
    "Mul": _product,
    "PowByNatural": _by_python(natural_power),
    "FloorDiv": _quotient,
    "CleanDiv": _quotient,
    "Mod": _remainder,
    "PythonMod": _remainder,
    "IntTrueDiv": _ratio,
    "FloatTrueDiv": _ratio,
    "ToFloat": _real,
    "Abs": _amount,
    "Max": _extreme(np.maximum),
    "Min": _extreme(np.minimum),
    "Equality": _truth(np.equal),
    "Unequality": _truth(np.not_equal),
    "StrictLessThan": _truth(np.less),
    "LessThan": _truth(np.less_equal),
    "StrictGreaterThan": _truth(np.greater),
    "GreaterThan": _truth(np.greater_equal),
    "And": _truth(np.logical_and),
    "Or": _truth(np.logical_or),
    "Not": _denied,
    "RoundToInt": _by_python(round),
    "TruncToInt": _by_python(int),
    "FloorToInt": _by_python(math.floor),
    "CeilToInt": _by_python(math.ceil),
    "FloatPow": _by_python(math.pow),
}
_DIVISIONS = frozenset({
    "FloorDiv", "CleanDiv", "Mod", "PythonMod", "IntTrueDiv", "FloatTrueDiv"
})  # fmt: skip
_MAX_EXPONENT = 8


@functools.lru_cache(maxsize=4_000)
def _steps(expression: Any) -> tuple[_Step, ...] | None:
    """The operations that compute an expression, each part once; None where some is not known."""
    steps: list[_Step] = []
    places: dict[Any, int] = {}

    def place(part: Any) -> int:
        if part not in places:
            step = _step(part, place)
            steps.append(step)
            places[part] = len(steps) - 1
        return places[part]

    try:
        place(expression)
    except _UnsupportedError:
        return None
    return tuple(steps) if len(steps) <= _MAX_STEPS else None


def _step(part: Any, place: Callable[[Any], int]) -> _Step:
    kind = type(part).__name__
    if part.is_Integer:
        return _Step(int(part), None, (), divides=False)
    if kind in {"BooleanTrue", "BooleanFalse"}:
        return _Step(bool(part), None, (), divides=False)
    if part.is_Float and part.is_finite:
        return _Step(float(part), None, (), divides=False)
    if part.is_Symbol:
        if not part.is_integer:
            raise _UnsupportedError
        return _Step(part, None, (), divides=False)
    args = part.args
    if kind in POWERS and args[1].is_Integer:
        if not 1 <= args[1] <= _MAX_EXPONENT:
            raise _UnsupportedError
        operation, args = _power, (args[0],) * int(args[1])
    else:
        operation = _OPERATIONS.get(kind) or _of_math(kind)
    operands = tuple(place(each) for each in args)
    return _Step(None, operation, operands, divides=kind in _DIVISIONS)


def _of_math(kind: str) -> Callable[..., _Operand]:
    """What is named after a function of the module math."""
    function = getattr(math, kind.removeprefix(OF_MATH), None) if kind.startswith(OF_MATH) else None
    if function is None:
        raise _UnsupportedError
    return _by_python(function)
