"""Sizes that a program may run with, and what relations of sizes are for all of them.

A relation that asks more than ranges say is decided by samples: sizes near the numbers in it, and
a few of every magnitude, which satisfy all that is known on the path of a branch.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sardonyx._capture.meta_tracer.fallback import TooManyQuestionsError
from sardonyx._capture.shapes.dim_spec import SCALAR, TAKEN_FOR, Leaf, size_of
from sardonyx._torch_private import sizes as torch_sizes

from .equations import equations_of, with_equations_solved
from .relations import at_sizes, numbers_of
from .size_tables import Column, Row, SizeTable, one_value, outcomes, truth_of

_SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 100, 128, 1000, 4099)
_MAX_ROWS = 500
_MAX_RANDOM = 150
# Of fewer rows, others are made that satisfy equations.
_MIN_ROWS = 50
# Sizes below it are all tried of one symbol, of several fewer.
_SMALL = 130
_MAX_NUMBERS = 6  # of a relation, which are added and multiplied
_MAX_MADE = 1 << 14  # so that a loop that halves a size ends
_MAX_DRAWN = 64  # samples that are kept, some hundred rows each
# Rows that satisfy what is known, next to which others are tried.
_MAX_BASES = 4
_MAX_RARE = 32  # rows that are tried again wherever more is known
# Values of an integer of sizes; each becomes a branch.
_MAX_VALUES = 4
_MAX_SIZE = 1 << 31

# Rows at which conditions are evaluated in one capture: a loop whose length is a power of a size
# asks more at each turn. Each condition counts as some rows more, which take as long.
_MAX_EVALUATED = 6_000_000
_PER_CONDITION = 300


class Condition(NamedTuple):
    """A relation of sizes, and whether it holds."""

    relation: Any
    truth: bool

    def holds(self, row: Row) -> bool:
        """Whether it is so for these sizes."""
        return truth_at(self.relation, row) is self.truth

    def of_table(self, table: SizeTable) -> SizeTable:
        """Those rows of many for which it is so."""
        found = outcomes(self.relation, table)
        return table.where(found.is_true if self.truth else found.is_false)


def truth_at(relation: Any, row: Row) -> bool | None:
    """`truth_of` for one row."""
    return truth_of(relation)(row)


class Bounds(NamedTuple):
    """The least and the most that a size may be; `most` is None where nothing bounds it."""

    least: int
    most: int | None


def bounds_of(inputs: Sequence[Any], leaves: Sequence[Leaf]) -> dict[str, Bounds]:
    """What the user says of each symbol of the inputs' sizes."""
    found: dict[str, Bounds] = {}
    for value, leaf in zip(inputs, leaves, strict=False):
        for axis, wanted in leaf.dims.items():
            size = value if axis == SCALAR else size_of(value, axis)
            if hasattr(size, "node") and size.node.expr.is_symbol:
                # Of the size itself, a string would count as one that the model makes.
                symbol = str(size.node.expr)
                known = found.get(symbol)
                least = wanted.least if known is None else max(known.least, wanted.least)
                found[symbol] = Bounds(least, wanted.most)
    return found


class SizeSamples:
    """Samples of the sizes of one program."""

    def __init__(self, env: Any, bounds: Mapping[str, Bounds]) -> None:
        self._env = env
        self._bounds = bounds
        self._bounds_by_symbol: dict[Any, Bounds] = {}  # strings of symbols take long
        self._known: dict[Any, SizeTable] = {}  # by what they are drawn by
        self._answers: dict[Any, set[bool | None]] = {}
        self._single: dict[Any, Any] = {}
        self._relevant: dict[Any, list[Condition]] = {}
        self._several: dict[Any, SizeTable] = {}
        # That satisfy what others did not, and are tried wherever more is known.
        self._rare: dict[tuple[int, ...], Row] = {}
        self._drawn: dict[Any, SizeTable] = {}  # by the symbols asked of, and the sizes of each
        # By the symbols and sizes of tables.
        self._satisfying: dict[tuple[Any, ...], list[tuple[Condition, SizeTable]]] = {}
        self._evaluated = 0

    def rows(self, conditions: Sequence[Condition], relation: Any) -> SizeTable:
        """Sizes that satisfy the conditions, and differ in what the relation asks of."""
        relevant = self._connected_to(relation, tuple(conditions))
        key = self._key(relevant, relation)
        if key not in self._known:
            relations = [*(each.relation for each in relevant), relation]
            # Conditions on other sizes say nothing of these.
            candidates = [self._candidates(relations), self._table(list(self._rare.values()))]
            tried = SizeTable.joined(candidates)
            found = self._that_satisfy(relevant, tried)
            if len(found) < _MIN_ROWS:
                found = SizeTable.joined([found, self._made_for(relevant, tried)])
            step = max(len(found) // _MAX_BASES, 1)
            bases = [found.row(each) for each in range(0, len(found), step)[:_MAX_BASES]]
            near = self._around(bases, *self._values(relations))
            rare = self._that_satisfy(relevant, self._scaled(self._least_strange(found)))
            for row in itertools.islice(rare, max(_MAX_RARE - len(self._rare), 0)):
                self._rare.setdefault(tuple(row.values()), row)
            self._known[key] = SizeTable.joined([found, self._that_satisfy(relevant, near), rare])
        return self._known[key]

    def _made_for(self, conditions: Sequence[Condition], tried: SizeTable) -> SizeTable:
        """Rows that satisfy conditions which few of those tried do: each size satisfies those of
        itself alone, and those that are sums of others follow from them."""
        apart = self._independent(conditions, tried)
        rows = SizeTable.joined([tried, apart])
        if equations := equations_of(conditions):
            solved = with_equations_solved(rows, equations)
            return self._that_satisfy(conditions, SizeTable.joined([apart, self._possible(solved)]))
        return self._that_satisfy(conditions, apart)

    def _independent(self, conditions: Sequence[Condition], tried: SizeTable) -> SizeTable:
        """Rows whose sizes are drawn of those that satisfy the conditions on each alone."""
        drawn = np.random.default_rng(0)
        columns, count = {}, _MAX_ROWS
        for symbol, column in tried.columns.items():
            sizes = np.array(self._within(symbol, {*np.unique(column).tolist(), *range(_SMALL)}))
            table = SizeTable({symbol: sizes}, len(sizes))
            for condition in conditions:
                if _symbols_of(condition.relation) == {symbol}:
                    table = condition.of_table(table)
            count = count if len(table) else 0
            columns[symbol] = table.columns[symbol]
        return SizeTable(
            {each: drawn.choice(c, count) if count else c[:0] for each, c in columns.items()}, count
        )

    def _table(self, rows: Sequence[Row]) -> SizeTable:
        return SizeTable.of_rows(rows, list(self._example()))

    def _least_strange(self, table: SizeTable) -> list[Row]:
        """Those of its rows that have the most factors of the example."""
        lost = _lost_factors(self._example(), table)
        return [table.row(each) for each in np.argsort(lost, kind="stable")[:_MAX_BASES]]

    @staticmethod
    def _key(relevant: Sequence[Condition], relation: Any) -> Any:
        """What the sizes are drawn by."""
        return tuple(relevant), _symbols_of(relation), _near_numbers(relation)

    def _that_satisfy(self, conditions: Sequence[Condition], table: SizeTable) -> SizeTable:
        known = self._satisfying_of(table)
        is_known = True
        found = table
        for place, condition in enumerate(conditions):
            is_known = is_known and place < len(known) and known[place][0] == condition
            if is_known:
                found = known[place][1]
                continue
            self._evaluated += len(found) + _PER_CONDITION
            if self._evaluated > _MAX_EVALUATED:
                raise TooManyQuestionsError
            del known[place:]
            found = condition.of_table(found)
            known.append((condition, found))
        return found

    def _satisfying_of(self, table: SizeTable) -> list[tuple[Condition, SizeTable]]:
        """The conditions that rows of these sizes were asked for last, and those that satisfy each
        of them and all before it: the next question adds a few conditions at the end."""
        key = (*table.columns, *(column.tobytes() for column in table.columns.values()))
        known = self._satisfying.pop(key, None)
        if len(self._satisfying) >= _MAX_DRAWN:
            self._satisfying.pop(next(iter(self._satisfying)))
        self._satisfying[key] = known = [] if known is None else known
        return known

    def _connected_to(self, relation: Any, conditions: tuple[Condition, ...]) -> list[Condition]:
        symbols = _symbols_of(relation)
        key = (conditions, symbols)
        if key not in self._relevant:
            self._relevant[key] = _connected(conditions, symbols)
        return self._relevant[key]

    def answers(self, conditions: Sequence[Condition], relation: Any) -> set[bool | None]:
        """All that the relation is of such sizes."""
        key = (tuple(conditions), relation)
        if key not in self._answers:
            together = _sum_of(_symbols_of(relation))
            found = outcomes(relation, self.rows(conditions, together)).answers
            if not {True, False} <= found:
                found = outcomes(relation, self.rows(conditions, relation)).answers
            self._answers[key] = found
        return self._answers[key]

    def value(self, conditions: Sequence[Condition], expression: Any) -> Any:
        """The one value that an expression or a relation has for all such sizes of at least 2,
        or, where there are none, for all; None where it has several."""
        key = (tuple(conditions), expression)
        if key not in self._single:
            self._single[key] = self._value(conditions, expression)
        return self._single[key]

    def _value(self, conditions: Sequence[Condition], expression: Any) -> Any:
        relevant = self._connected_to(expression, tuple(conditions))
        together = _sum_of(_symbols_of(expression))
        few = self._of_several(relevant, together)
        if len(few) and one_value(expression, few) is None:
            return None
        return one_value(expression, self._of_several(relevant, expression))

    def _of_several(self, conditions: Sequence[Condition], relation: Any) -> SizeTable:
        """The rows of sizes of at least 2, or all where there are none."""
        rows = self.rows(conditions, relation)
        key = self._key(conditions, relation)
        if key not in self._several:
            columns = [rows.columns[s] for s in _symbols_of(relation) if s in rows.columns]
            is_above = np.logical_and.reduce([each >= TAKEN_FOR for each in columns] or [True])
            found = rows.where(np.broadcast_to(is_above, len(rows)))
            self._several[key] = found if len(found) else rows
        return self._several[key]

    def few_values(self, conditions: Sequence[Condition], expression: Any) -> list[int] | None:
        """All values that an integer of sizes has for such sizes, the example's first; None where
        these may be many, or more than the samples show."""
        within = torch_sizes.bounds_of_expression(
            expression,
            {
                symbol: (bounds.least, bounds.most if bounds.most is not None else _MAX_SIZE)
                for symbol in expression.free_symbols
                for bounds in [self._bounds_of(symbol)]
            },
        )
        if within is None or within[1] - within[0] >= _MAX_VALUES:
            return None
        rows = self.rows(conditions, expression)
        found = {at_sizes(expression, row) for row in rows}
        if not found or None in found or any(not each.is_Integer for each in found):
            return None
        numbers = sorted(map(int, found))
        if not conditions and numbers != list(range(within[0], within[1] + 1)):
            return None
        example = at_sizes(expression, self._example())
        return sorted(numbers, key=lambda each: (each != example, each))

    def from_least(self, ranges: Mapping[Any, Any]) -> dict[Any, Any]:
        """The ranges of symbols from the least that the user lets them be, which captures take for
        2, where no guard forbids it."""
        guards = [Condition(each, True) for each in torch_sizes.guards_of(self._env)]
        example = self._example()
        found = dict(ranges)
        for symbol, known in ranges.items():
            if known.lower != TAKEN_FOR or symbol not in example:
                continue
            sizes = range(self._bounds_of(symbol).least, TAKEN_FOR)
            if sizes and all(each.holds({**example, symbol: n}) for n in sizes for each in guards):
                found[symbol] = type(known)(sizes[0], known.upper)
        return found

    def example(self, conditions: Sequence[Condition]) -> Row | None:
        """Sizes for a run on a path: the example's where they satisfy the conditions, otherwise
        such that are neither 0, 1 nor equal by chance, where there are any. None where nothing
        satisfies them."""
        known = self._example()
        if all(each.holds(known) for each in conditions):
            return known
        import sympy

        relations = [each.relation for each in conditions]
        rows = self.rows(conditions, sympy.And(*relations, evaluate=False))
        return rows.row(int(_by_strangeness(known, rows)[0])) if len(rows) else None

    def _example(self) -> Row:
        return {each: int(size) for each, size in torch_sizes.example_sizes(self._env).items()}

    def _candidates(self, relations: Sequence[Any]) -> SizeTable:
        """Sizes to try. Most conditions that a run adds are about the same symbols and numbers."""
        asked, values = self._values(relations)
        key = (tuple(asked), tuple(map(tuple, values.values())))
        if key not in self._drawn:
            if len(self._drawn) >= _MAX_DRAWN:
                self._drawn.pop(next(iter(self._drawn)))
            self._drawn[key] = SizeTable.joined(list(self._draw(asked, values)))
        return self._drawn[key]

    def _draw(
        self, asked: Sequence[Any], values: Mapping[Any, Sequence[int]]
    ) -> Iterator[SizeTable]:
        example = self._example()
        yield self._table([example])
        yield self._scaled([example])
        sizes = np.array(sorted({*_SIZES, *itertools.chain(*values.values())}), dtype=np.int64)
        yield SizeTable({each: self._nearest(each, sizes) for each in example}, len(sizes))
        yield self._around([example], asked, values)
        drawn = random.Random(0)
        if len(asked) > 1:
            product = list(itertools.islice(
                itertools.product(*(values[each] for each in asked)), _MAX_ROWS * 20
            ))  # fmt: skip
            chosen = drawn.sample(product, min(len(product), _MAX_ROWS))
            columns = dict(zip(asked, np.array(chosen, dtype=np.int64).T, strict=True))
            yield _with_columns(example, columns, len(chosen))
        if len(example) > 1:
            columns = {
                each: np.array(drawn.choices(values[each], k=_MAX_RANDOM), dtype=np.int64)
                for each in example
            }
            yield SizeTable(columns, _MAX_RANDOM)

    def _scaled(self, rows: Sequence[Row]) -> SizeTable:
        """Each row with one of its sizes doubled, also where another one is halved: an image of as
        many windows, with other sides. None that is above twice the example's largest, so that
        loops that halve a size end."""
        symbols = list(self._example())
        limit = 2 * max(self._example().values())
        found = [np.empty((0, len(symbols)), dtype=np.int64)]
        for row in rows:
            sizes = np.array([row[each] for each in symbols], dtype=np.int64)
            may_double, may_halve = self._are_within(symbols, np.stack([2 * sizes, sizes // 2]))
            for doubled in np.flatnonzero(may_double & (2 * sizes <= limit)):
                # The first has no other size halved.
                others = np.flatnonzero(may_halve & (np.arange(len(symbols)) != doubled))
                made = np.tile(sizes, (1 + len(others), 1))
                made[:, doubled] *= 2
                made[np.arange(1, len(made)), others] //= 2
                found.append(made)
        columns = dict(zip(symbols, np.concatenate(found).T, strict=True))
        return SizeTable(columns, sum(map(len, found)))

    def _are_within(self, symbols: Sequence[Any], sizes: Column) -> Column:
        """Whether each symbol may be the size in its column."""
        bounds = [self._bounds_of(each) for each in symbols]
        least = np.array([each.least for each in bounds])
        most = np.array([_MAX_SIZE if each.most is None else each.most for each in bounds])
        return (least <= sizes) & (sizes <= most)

    def _possible(self, table: SizeTable) -> SizeTable:
        """The rows whose sizes are within their bounds."""
        symbols = list(table.columns)
        sizes = np.stack([table.columns[each] for each in symbols], axis=1)
        return table.where(np.all(self._are_within(symbols, sizes), axis=1))

    def _around(
        self, bases: Sequence[Row], asked: Sequence[Any], values: Mapping[Any, Sequence[int]]
    ) -> SizeTable:
        """Every size once of each symbol that is asked of, with the others as in each base."""
        every = range(_SMALL // max(len(asked), 1))
        tables = [_with_columns(self._example(), {}, 0)]
        for base in bases:
            for each in asked:
                sizes = np.array(self._within(each, {*values[each], *every}), dtype=np.int64)
                tables.append(_with_columns(base, {each: sizes}, len(sizes)))
        return SizeTable.joined(tables)

    def _values(self, relations: Sequence[Any]) -> tuple[list[Any], dict[Any, list[int]]]:
        """The symbols that the relations ask of, and the sizes to try of each symbol."""
        example = self._example()
        asked = sorted(set().union(*map(_symbols_of, relations)), key=str)
        numbers = {size for each in relations for size in _near_numbers(each)}
        return [each for each in asked if each in example], {
            each: self._within(each, {*numbers, *_SIZES, size}) for each, size in example.items()
        }

    def _within(self, symbol: Any, sizes: Iterable[int]) -> list[int]:
        least, most = self._bounds_of(symbol)
        found = {size for size in sizes if size >= least and (most is None or size <= most)}
        found |= {least} if most is None else {least, most}
        return sorted(found)

    def _nearest(self, symbol: Any, sizes: Column) -> Column:
        least, most = self._bounds_of(symbol)
        return np.clip(sizes, least, most)

    def _bounds_of(self, symbol: Any) -> Bounds:
        found = self._bounds_by_symbol.get(symbol)
        if found is None:
            found = self._bounds.get(str(symbol), Bounds(TAKEN_FOR, None))
            self._bounds_by_symbol[symbol] = found
        return found


def _with_columns(base: Row, columns: Mapping[Any, Column], length: int) -> SizeTable:
    """The row so many times, with these columns in the place of its sizes."""
    every = {each: np.full(length, size, dtype=np.int64) for each, size in base.items()}
    return SizeTable({**every, **columns}, length)


@functools.lru_cache(maxsize=1 << 10)
def _sum_of(symbols: frozenset[Any]) -> Any:
    """An expression that asks of these symbols, and of no number."""
    import sympy

    return sympy.Add(*symbols)


@functools.lru_cache(maxsize=1 << 12)
def _near_numbers(relation: Any) -> frozenset[int]:
    """Sizes near those at which a relation may change: `n - 8 > 4` does so at 12, `n // 4 > 3` at
    16."""
    atoms = set(map(abs, numbers_of(relation)))
    pairs = itertools.product(sorted(atoms)[:_MAX_NUMBERS], repeat=2)
    made = (size for a, b in pairs for size in (a + b, abs(a - b), a * b, a * (b + 1)))
    found = atoms.union(size for size in made if size < _MAX_MADE)
    return frozenset(each + step for each in found for step in (-1, 0, 1))


def _connected(conditions: Sequence[Condition], symbols: Iterable[Any]) -> list[Condition]:
    """The conditions that say something of these symbols, also by way of others."""
    left, known, found = list(conditions), set(symbols), []
    while more := [each for each in left if _symbols_of(each.relation) & known]:
        found += more
        taken = set(more)
        left = [each for each in left if each not in taken]
        known = known.union(*(_symbols_of(each.relation) for each in more))
    return found


@functools.lru_cache(maxsize=1 << 16)
def _symbols_of(expression: Any) -> frozenset[Any]:
    """SymPy computes them anew whenever it is asked, which takes long for sizes of many terms."""
    return frozenset(expression.free_symbols)


def _by_strangeness(example: Row, table: SizeTable) -> Column:
    """The places of the table's rows, the least strange first: by how many sizes are 0 or 1, how
    many are equal and are not in the user's example, factors of the example that are lost, and the
    distance from it."""
    columns = table.columns
    nothing = np.zeros(len(table), dtype=np.int64)
    small = sum((each < TAKEN_FOR for each in columns.values()), nothing)
    pairs = itertools.combinations(columns, 2)
    unlike = [(a, b) for a, b in pairs if example[a] != example[b]]
    equal = sum((columns[a] == columns[b] for a, b in unlike), nothing)
    distance = sum((np.abs(each - example[of]) for of, each in columns.items()), nothing)
    return np.lexsort((distance, _lost_factors(example, table), equal, small))


def _lost_factors(example: Row, table: SizeTable) -> Column:
    """How much of the example's sizes does not divide others, of each row: an image that is parted
    into windows has to be a multiple of some of it."""
    lost = np.zeros(len(table), dtype=np.int64)
    for symbol, size in example.items():
        if size:
            lost += size // np.gcd(size, table.columns[symbol])
    return lost
