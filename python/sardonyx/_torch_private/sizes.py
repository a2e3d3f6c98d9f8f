"""Symbolic sizes: torch.SymInts, the expressions that they stand for, and the ShapeEnv that knows
what is equal among them."""

from __future__ import annotations

import functools
import math
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .probing import Probe, has, lookup, patched

if TYPE_CHECKING:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv


def new_environment() -> ShapeEnv:
    """A ShapeEnv in which neither elements of tensors nor data-dependent shapes become sizes."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    return ShapeEnv(allow_scalar_outputs=False, allow_dynamic_output_shape_ops=False)


SYMBOLIC_SHAPES = "torch.fx.experimental.symbolic_shapes"
EMPTY_SIZES = Probe("sizes of 0", has(SYMBOLIC_SHAPES, "make_symbol"))


@contextmanager
def sizes_from_zero() -> Iterator[None]:
    """Within it, new symbols of sizes are no longer positive numbers to sympy, but may be 0: it
    makes 0 of `max(1 - n, 0)` otherwise."""
    if not EMPTY_SIZES.available:
        yield
        return
    module = lookup(SYMBOLIC_SHAPES)
    make = module.make_symbol

    def made(*args: Any, positive: Any = None, **kwargs: Any) -> Any:
        sign = {"nonnegative": True} if positive else {"positive": positive}
        return make(*args, **sign, **kwargs)

    with patched(module, "make_symbol", made):
        yield


def plain_expression(node: Any) -> Any:
    """The expression of a size as it was made, without what was learnt of its symbols since."""
    return node._expr


def size_of_expression(expression: Any, *, like: Any) -> Any:
    """The SymInt of an expression of sizes, in the environment of another SymInt."""
    import torch
    from torch.fx.experimental.sym_node import SymNode

    env = like.node.shape_env
    known = example_sizes(env)
    hint = expression.xreplace({each: known[each] for each in expression.free_symbols})
    return torch.SymInt(SymNode(expression, env, int, int(hint), fx_node=None))


def is_always_true(relation: Any) -> bool:
    """Whether a relation of sizes holds whatever they are, which nothing assumes by asking."""
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    return bool(statically_known_true(relation))


def symbols_of_data(value: Any) -> Any:
    """The data-dependent symbols of a size or of a tensor's sizes."""
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    return free_unbacked_symbols(value)


def files_of_torch() -> set[str]:
    """PyTorch's own files, which its messages about sizes pass over."""
    from torch.fx.experimental.symbolic_shapes import uninteresting_files

    return uninteresting_files()


@contextmanager
def solving_equations_alone(is_solvable: Callable[[Any, Any], bool]) -> Iterator[None]:
    """Within it, torch.export's solver solves for symbols of which an equation is asked, and leaves
    relations out that `is_solvable(relation, symbol)` denies."""
    from torch.fx.experimental.symbolic_shapes import DimConstraints

    solve = DimConstraints.solve

    def solved(constraints: Any) -> None:
        bounds = constraints._univariate_inequalities
        for symbol in list(constraints._symbols_with_equalities):
            bounds[symbol] = {each for each in bounds[symbol] if is_solvable(each, symbol)}
            if not any(each.func.rel_op == "==" for each in bounds[symbol]):
                constraints._symbols_with_equalities.remove(symbol)
        if not constraints._symbols_with_equalities:
            bounds.clear()
        solve(constraints)

    with patched(DimConstraints, "solve", solved):
        yield


# The methods of sizes that make another size, or a relation, of two.
_ARITHMETIC = (
    *("add", "sub", "mul", "floordiv", "mod", "sym_max", "sym_min"),
    *("eq", "ne", "lt", "le", "gt", "ge"),
)


_SUMS = frozenset({"add", "sub"})


_CHOICES = frozenset({"sym_max", "sym_min"})


@contextmanager
def arithmetic_remembered(
    simplified: Callable[[Any], Any],
    chosen: Callable[[Any], Any],
    divided: Callable[[Any, Any], Any],
) -> Iterator[None]:
    """Within it, equal operands give the node that they gave before. Sums are what `simplified`
    makes of them, maxima and minima what `chosen` does. A rounded quotient by a size is what
    `divided` gives, where it gives one."""
    from torch.fx.experimental.sym_node import SymNode

    known: dict[tuple[Any, ...], Any] = {}

    def remembered(name: str, method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def computed(node: Any, other: Any) -> Any:
            # As they are now that some sizes are known to be equal, as the method takes them.
            operands = (name, node.expr, other.expr, node.pytype, other.pytype)
            result = known.get(operands)
            if result is None:
                result = method(node, other)
                if name == "floordiv" and result.pytype is int and other.expr.free_symbols:
                    exact = divided(node.expr, other.expr)
                    result = result if exact is None else _with_expression(result, exact)
                if name in _SUMS:
                    result = _with_expression(result, simplified(result.expr))
                elif name in _CHOICES and result.pytype is int:
                    result = _with_expression(result, chosen(result.expr))
                known[operands] = result
            elif (on_given := getattr(result, "on_given_again", None)) is not None:
                on_given()
            return result

        return computed

    with ExitStack() as stack:
        for name in _ARITHMETIC:
            stack.enter_context(patched(SymNode, name, remembered(name, getattr(SymNode, name))))
        yield


@contextmanager
def differences_made(make: Callable[[Any, Any], Any]) -> Iterator[None]:
    """Within it, the difference of two sizes is what `make` gives for their expressions, where it
    gives one."""
    from torch.fx.experimental.sym_node import SymNode

    subtracted = SymNode.sub

    def sub(node: Any, other: Any) -> Any:
        made = make(node.expr, other.expr) if isinstance(other, SymNode) else None
        if made is None:
            return subtracted(node, other)
        known = example_sizes(node.shape_env)
        size = made.xreplace({each: known[each] for each in made.free_symbols})
        return SymNode(made, node.shape_env, int, int(size), fx_node=None)

    with patched(SymNode, "sub", sub):
        yield


def _with_expression(node: Any, expression: Any) -> Any:
    """The SymNode, or one that stands for an equal expression."""
    from torch.fx.experimental.sym_node import SymNode

    if expression == node.expr or not isinstance(node, SymNode):
        return node
    return SymNode(expression, node.shape_env, node.pytype, node.hint, fx_node=node.fx_node)


QUOTIENTS = Probe(
    "quotients of sizes by negative numbers",
    has("torch.fx.experimental.sym_node", "SymNode.int_floordiv", "SymNode.mod"),
)


@contextmanager
def negative_divisors_rounded() -> Iterator[None]:
    """Within it, `n // -4` of sizes is `-((n + 3) // 4)`, and `n % -4` is `-(-n % 4)`. PyTorch
    merges `n // 2 // -4` into one quotient, `n // -8`, which rounds the other way, and takes
    `-n % -4` for `-n`. A quotient by what may be negative is one without a rest, which is not
    merged: `(q - q % m) // m`."""
    if not QUOTIENTS.available:
        yield
        return
    from torch.fx.experimental.sym_node import SymNode
    from torch.utils._sympy.functions import FloorDiv

    divided, reduced = SymNode.int_floordiv, SymNode.mod

    def int_floordiv(node: Any, other: Any) -> Any:
        if not isinstance(other, SymNode) or not (node.expr.free_symbols | other.expr.free_symbols):
            return divided(node, other)
        if _is_negative(other):
            by = other.neg()
            return divided(node.add(by).sub(node.wrap_int(1)), by).neg()
        if isinstance(node.expr, FloorDiv) and not _is_positive(other):
            return divided(node.sub(reduced(node, other)), other)
        return divided(node, other)

    def mod(node: Any, other: Any) -> Any:
        if isinstance(other, SymNode) and _is_negative(other) and node.expr.free_symbols:
            return reduced(node.neg(), other.neg()).neg()
        return reduced(node, other)

    with patched(SymNode, "int_floordiv", int_floordiv), patched(SymNode, "mod", mod):
        yield


ROUNDING = Probe(
    "real quotients of sizes that are rounded",
    has("torch.fx.experimental.sym_node", "SymNode.ceil", "SymNode.floor"),
)


@contextmanager
def quotients_rounded_as_integers() -> Iterator[None]:
    """Within it, `math.ceil(n / 2)` is `(n + 1) // 2`, and `math.floor(n / 2)` is `n // 2`, which
    is the same for sizes below 2**53. What a layer pads by is made of such quotients. Of real
    numbers, sympy simplifies nothing, so that the sizes of each layer are several times as long as
    those of the one before."""
    if not ROUNDING.available:
        yield
        return
    from torch.fx.experimental.sym_node import SymNode
    from torch.utils._sympy.functions import FloorDiv

    raised, lowered = SymNode.ceil, SymNode.floor

    def ceil(node: Any) -> Any:
        size, divisor = _integer_quotient(node)
        if divisor is None:
            return raised(node)
        return _rounded(node, FloorDiv(size + divisor - 1, divisor), math.ceil)

    def floor(node: Any) -> Any:
        size, divisor = _integer_quotient(node)
        if divisor is None:
            return lowered(node)
        return _rounded(node, FloorDiv(size, divisor), math.floor)

    with patched(SymNode, "ceil", ceil), patched(SymNode, "floor", floor):
        yield


def _integer_quotient(node: Any) -> tuple[Any, Any]:
    """The size that a real number is a quotient of, and the positive number that divides it; twice
    None for any other number."""
    expression = node.expr
    if type(expression).__name__ != "IntTrueDiv":
        return None, None
    size, divisor = expression.args
    return (size, divisor) if divisor.is_Integer and divisor > 0 else (None, None)


def _rounded(node: Any, expression: Any, function: Callable[[Any], int]) -> Any:
    from torch.fx.experimental.sym_node import SymNode

    hint = None if node.hint is None else function(node.hint)
    return SymNode(expression, node.shape_env, int, hint, fx_node=None)


FLOORS = Probe(
    "floors of real numbers of sizes",
    has("torch.fx.experimental.symbolic_shapes", "ShapeEnv._simplify_floor_div"),
)


@contextmanager
def floors_left_as_they_are() -> Iterator[None]:
    """Within it, `math.floor(n // 3 * 0.5)` asks nothing of sizes. PyTorch asks whether each
    quotient in it is exact, which is a condition on n, and drops the maximum of `max(n, 1)`, since
    it takes n for 2 or more."""
    if not FLOORS.available:
        yield
        return
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    with patched(ShapeEnv, "_simplify_floor_div", lambda _, expression: expression):
        yield


def _is_negative(node: Any) -> bool:
    """Of a divisor, which is not 0."""
    return bool(node.expr.is_negative) or bool(_bounds(node).upper <= 0)


def _is_positive(node: Any) -> bool:
    """Of a divisor, which is not 0."""
    return bool(node.expr.is_positive) or bool(_bounds(node).lower >= 0)


def _bounds(node: Any) -> Any:
    """The least and the greatest that an integer of sizes can be. Captures take a size for 2 or
    more, and models run with 0 and 1."""
    from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

    if node.expr.is_number or node.pytype is not int:
        return ValueRanges.wrap(node.expr)
    known = node.shape_env.var_to_range
    ranges = {each: known[each] for each in node.expr.free_symbols if each in known}
    return bound_sympy(
        node.expr,
        {
            each: ValueRanges(0, range_.upper) if range_.lower == 2 else range_
            for each, range_ in ranges.items()
        },
    )


@contextmanager
def fractions_reduced_by_term() -> Iterator[None]:
    """Within it, a quotient of sizes is reduced by dividing each term of both sides by the common
    factor. PyTorch calls sympy.simplify() for that, which tries dozens of transformations: seconds
    for each size of an image that is padded and parted into windows."""
    from torch.utils._sympy import functions

    with patched(functions, "sympy", _sympy_for_fractions()):
        yield


@functools.cache
def _sympy_for_fractions() -> types.ModuleType:
    import sympy

    module = types.ModuleType(sympy.__name__)
    vars(module).update(vars(sympy))
    vars(module)["simplify"] = _reduced_by_term
    return module


def _reduced_by_term(fraction: Any) -> Any:
    import sympy

    reduced = sympy.expand_mul(fraction, deep=False)
    if any(each.exp.is_negative for each in reduced.atoms(sympy.Pow)):
        return sympy.simplify(fraction)  # the factor is not in each term as it is written
    return reduced


@contextmanager
def equal_sizes(groups: Iterable[Sequence[Any]]) -> Iterator[None]:
    """Within it, the SymInts of each group are one: a symbol among them is said as the first is."""
    undo: dict[Any, dict[Any, Any]] = {}
    try:
        for first, *others in groups:
            for other in others:
                env, symbol, known = first.node.shape_env, other.node.expr, first.node.expr
                if symbol == known:
                    continue
                if not symbol.is_symbol:
                    symbol, known = known, symbol
                if symbol.is_symbol and symbol not in known.free_symbols:
                    undo.setdefault(env, dict(env.replacements))
                    env.replacements[symbol] = known
                    _forget_sizes(env)
        yield
    finally:
        for env, before in undo.items():
            env.replacements.clear()
            env.replacements.update(before)
            _forget_sizes(env)


def check(env: Any, relation: Any) -> None:
    """Has a relation hold of sizes from now on, as torch._check() does."""
    from torch.fx.experimental.sym_node import SymNode

    truth = SymNode(relation, env, bool, True, fx_node=None)
    truth.expect_true(__file__, 0)


def join_sizes(first: Any, other: Any) -> None:
    """Has two SymInts of one environment be one size from now on."""
    env, symbol, known = first.node.shape_env, other.node.expr, first.node.expr
    if symbol != known and symbol.is_symbol and known.is_symbol:
        env._set_replacement(symbol, known, "dimensions of one name")


def _forget_sizes(env: Any) -> None:
    """Drops what a ShapeEnv remembers of its replacements."""
    env._update_version_counter()
    if hasattr(env, "_replacements_version_counter"):  # a second one, since 2.12
        env._replacements_version_counter += 1


def names_of_sizes(env: Any, symbols: Iterable[Any]) -> list[str]:
    """What symbols stand for: "L['x'].size()[0]"."""
    sources = getattr(env, "var_to_sources", {})
    found = [source for symbol in symbols for source in sources.get(symbol, ())]
    # A source's name became a property.
    return [s.name if isinstance(s.name, str) else s.name() for s in found]


_SIZE_OF_INPUT = re.compile(r"L\['(?P<name>\w+)'\](?P<part>.*)\.size\(\)\[(?P<axis>\d+)\]")


def named_relation(env: Any, relation: Any) -> str:
    """A relation of sizes as text, where these have users' names for them: x.shape[0]."""
    import sympy

    names = {}
    for symbol in relation.free_symbols:
        for source in names_of_sizes(env, (symbol,)):
            if (found := _SIZE_OF_INPUT.fullmatch(source)) is not None:
                names[symbol] = sympy.Symbol(
                    f"{found['name']}{found['part']}.shape[{found['axis']}]"
                )
                break
    return str(relation.xreplace(names))


def canonical_relation(relation: Any) -> Any:
    """A relation of sizes in the one form of those that say the same."""
    from torch.fx.experimental import symbolic_shapes

    return symbolic_shapes.canonicalize_bool_expr(relation)


def rounded_quotient(size: Any, divisor: Any) -> Any:
    """The expression of `size // divisor`."""
    from torch.utils._sympy.functions import FloorDiv

    return FloorDiv(size, divisor)


def is_of_data(symbol: Any) -> bool:
    """Whether a symbol stands for a data-dependent number."""
    from torch.utils._sympy.symbol import SymT, symbol_is_type

    return bool(symbol_is_type(symbol, (SymT.UNBACKED_INT, SymT.UNBACKED_FLOAT)))


@dataclass(frozen=True)
class DataFacts:
    """What a ShapeEnv knows of data-dependent numbers.

    Attributes:
        ranges: from symbol to its range.
        replacements: from symbol to the expression that it is equal to, for those that have one.
        asserted: how many relations are asserted of the numbers up to each symbol.
        implied: relations whose truth follows from what is asserted or asked.
    """

    ranges: Mapping[Any, Any]
    replacements: Mapping[Any, Any]
    asserted: Mapping[Any, int]
    implied: frozenset[Any]

    @classmethod
    def of(cls, env: Any) -> DataFacts:
        """What is known now."""
        ranges = {symbol: known for symbol, known in env.var_to_range.items() if is_of_data(symbol)}
        equal = {
            symbol: env.replacements[symbol] for symbol in ranges if symbol in env.replacements
        }
        asserted = {symbol: len(each) for symbol, each in env.deferred_runtime_asserts.items()}
        return cls(ranges, equal, asserted, frozenset(env.axioms))

    def are_equalities_of(self, other: DataFacts) -> bool:
        """Whether the other facts, known later, have these symbols equal to the same."""
        return all(
            other.replacements.get(symbol) == self.replacements.get(symbol)
            for symbol in self.ranges
        )

    def restore(self, env: Any) -> None:
        """Has the ShapeEnv know no more of these numbers; what it knows of sizes of inputs, and of
        numbers that came later, stays."""
        env.var_to_range.update(self.ranges)
        for symbol, asserts in env.deferred_runtime_asserts.items():
            if symbol in self.ranges:
                del asserts[self.asserted.get(symbol, 0) :]
        for relation in list(env.axioms):
            if relation not in self.implied and any(map(is_of_data, relation.free_symbols)):
                del env.axioms[relation]
        _forget_sizes(env)


def example_sizes(env: Any) -> dict[Any, Any]:
    """What each symbol of an input's size is in the example."""
    known = getattr(env, "backed_var_to_val", None)  # its name since PyTorch 2.10
    return dict(env.var_to_val if known is None else known)


def known_answer(env: Any, relation: Any) -> bool | None:
    """What the ranges of sizes make of a relation of them; None where they do not decide it."""
    answer = env._maybe_evaluate_static(relation)
    return None if answer is None else bool(answer)


def is_known(env: Any, relation: Any) -> bool:
    """Whether the ranges of sizes decide a relation of them."""
    return known_answer(env, relation) is not None


def is_fixed(size: Any) -> bool:
    """Whether a SymInt is a number, or a symbol that has one value: PyTorch takes it for that."""
    node = size.node
    if node.expr.is_number:
        return True
    known = node.shape_env.var_to_range.get(node.expr)
    return known is not None and bool(known.lower == known.upper)


def bounds_of_expression(expression: Any, bounds: Mapping[Any, tuple[int, int]]) -> Any:
    """The least and the most that an integer of sizes may be, by the bounds of the sizes; None
    where nothing bounds it."""
    from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

    ranges = {symbol: ValueRanges(*known) for symbol, known in bounds.items()}
    found = bound_sympy(expression, ranges)
    is_known = found.lower.is_Integer and found.upper.is_Integer
    return (int(found.lower), int(found.upper)) if is_known else None


def guards_of(env: Any) -> list[Any]:
    """The relations that were asked of sizes, and that hold for those of the program."""
    return [each.expr for each in env.guards]


@functools.cache
def _opaque_function(name: str) -> Any:
    """sympy's name for a function of floats. sympy can only evaluate it."""
    from torch.utils._sympy import functions

    known = getattr(functions, f"OpaqueUnaryFn_{name}", None)
    return functions.make_opaque_unary_fn(name) if known is None else known


def real_function(name: str, size: Any) -> Any:
    """What the function of that name in `math` gives of a SymInt or SymFloat: a SymFloat."""
    import torch
    from torch.fx.experimental.sym_node import SymNode

    node = size.node
    hint = None if node.hint is None else getattr(math, name)(node.hint)
    made = SymNode(_opaque_function(name)(node.expr), node.shape_env, float, hint, fx_node=None)
    return torch.SymFloat(made)
