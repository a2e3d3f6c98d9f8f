"""What is asked of free sizes where no range can say the answer: by the model's own code, and by
operators where the answer fixes a size."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.meta_tracer.symbolic.relations import (
    at_sizes,
    excludes_large_sizes,
    fixes_quotient,
    fixes_sizes,
    numbers_of,
    relates_computed_sizes,
)
from sardonyx._capture.patches.conditions import watched_conditions
from sardonyx._capture.shapes.dim_names import named_inputs, symbol_names
from sardonyx._capture.shapes.dim_spec import SCALAR, TAKEN_FOR, ConstantDimPolicy, Leaf, size_of
from sardonyx._capture.source_location import (
    Place,
    asking_frame,
    frames_of_model,
    parsed,
    place_of_trace,
    user_place,
)
from sardonyx._torch_private import questions as torch_questions

from .bytecode_control_flow import answer_that_goes_on, is_assigning_to_parts, is_caught
from .irrelevant_guards import is_immaterial, returns_the_same
from .size_strings import is_computed_with, is_shown_alone, watched_strings

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_SAMPLES = (2, 3, 4, 5, 7, 8, 16, 63, 64, 65, 100, 1000, 4099)
# Who asks.
BY_BRANCH, BY_OPERATOR = "the model's own code", "an operator"
BY_CHECK = "a check"  # which otherwise only raises

_MAX_TRIED = 400
_MAX_NUMBERS = 6
_MAX_RELATED = 2
_MAX_SYMBOLS = 4

# Sizes below 2, by the names of their symbols.
_Few = dict[str, int]


class SizeGuards:
    """Relations of sizes that hold in the program as in the example, and the lines that asked for
    them."""

    def __init__(self, *, keeps_conditions: bool = False) -> None:
        """`keeps_conditions`: whether torch.cond keeps what sympy takes for always so."""
        self.keeps_conditions = keeps_conditions
        self._asked: dict[tuple[Any, Place], Any] = {}
        self._by_operators: dict[Any, tuple[Place, Any]] = {}
        # The sizes for which the answer is another.
        self._of_few: dict[tuple[Any, Place], tuple[_Few, ...]] = {}
        self._strings: dict[Place, tuple[Any, bool]] = {}  # of sizes; whether a number follows
        self._counted: set[Any] = set()  # what Python takes for a number
        # Who asks for them, by symbol; in captures with the bounds that PyTorch suggests, nobody.
        self._bounds: dict[str, str] = {}
        self._questions: dict[str, list[Any]] = {}  # of the model's own code, by symbol
        # Beyond which PyTorch raises, by symbol.
        self._checks: dict[str, list[Any]] = {}
        self.by_model = False  # whether the model's own code asked anything
        self.are_any = False  # whether anyone did
        # The functions of the model that ran then, with the names of their modules.
        self.codes: dict[CodeType, str] = {}

    @contextmanager
    def heard(self, *, are_bounds_asked: bool = False) -> Iterator[None]:
        """Within it, they are written down; those of an earlier capture are forgotten.

        `are_bounds_asked`: whether this capture asks for all bounds, also for those that the
        earlier one met.
        """
        if are_bounds_asked:
            self._bounds.clear()
            self._questions.clear()
            self._checks.clear()
        self._asked.clear()
        self._by_operators.clear()
        self._of_few.clear()
        self._strings.clear()
        self._counted.clear()
        self.by_model = self.are_any = False
        with (
            torch_questions.watching_questions(self._hear, self._hear_assertion),
            torch_questions.watching_checks(self._hear_check),
            torch_questions.watching_truths(self._hear_of_few, self._counted.add),
            watched_conditions(None if self.keeps_conditions else self._hear_of_few),
            watched_strings(self._hear_string),
        ):
            yield

    def _hear_string(self, size: Any) -> None:
        frame = frame_of_model()
        if frame is None or not size.node.expr.free_symbols or is_shown_alone(frame):
            return
        if place := user_place():
            self._strings.setdefault(place, (size.node.expr, is_computed_with(frame)))

    def _hear_of_few(self, relation: Any, answer: bool) -> None:
        """What is answered since captures take a free size for at least 2."""
        frame = frame_asking(relation)
        exceptions = () if frame is None else _exceptions(relation, answer)
        if frame is None or not exceptions or is_immaterial(frame):
            return
        exceptions = tuple(few for few in exceptions if not returns_the_same(frame, few))
        if not exceptions:
            return
        place = user_place()
        if place and not _only_raises(place, frame):
            self._note_code()
            self._of_few.setdefault((relation if answer else _denied(relation), place), exceptions)

    def _hear(self, env: Any, relation: Any) -> None:
        import sympy

        if len(relation.free_symbols) == 1 and _is_bound(relation):
            asker = self._hear_bound(str(*relation.free_symbols))
            # An operator that takes one size alone takes no other on either side of a branch.
            self.are_any |= asker is not BY_OPERATOR or not isinstance(relation, sympy.Equality)
            return  # the program's ranges say it
        self.are_any = True
        if (frame := frame_asking(relation)) is not None:
            place = user_place()
            if place and not _only_raises(place, frame):
                self._note_code()
                self._asked.setdefault((relation, place), env)
                if len(relation.free_symbols) == 1:
                    self._questions.setdefault(str(*relation.free_symbols), []).append(relation)
        elif any(asks(relation) for asks in _OF_OPERATORS) and (place := _place_of_operator()):
            self._by_operators.setdefault(relation, (place, env))

    def _hear_assertion(self, env: Any, relation: Any) -> None:
        """What an operator asserts: that two sizes are equal, which need not be where one is 1."""
        if relates_computed_sizes(relation) and frame_of_model() is None:
            self.are_any = True
            if place := _place_of_operator():
                self._by_operators.setdefault(relation, (place, env))

    def _hear_check(self, relation: Any) -> None:
        import sympy

        for each in sympy.And.make_args(relation):
            # An equality may be the side of a broadcast that the example takes.
            is_bound = not each.has(sympy.Equality, sympy.Unequality)
            if is_bound and len(each.free_symbols) == 1:
                self._checks.setdefault(str(*each.free_symbols), []).append(each)

    def _hear_bound(self, symbol: str) -> str:
        asker = BY_OPERATOR
        if (frame := frame_of_model()) is not None:
            place = user_place()
            asker = BY_CHECK if place and _only_raises(place, frame) else BY_BRANCH
            if asker is BY_BRANCH:
                self._note_code()
        if self._bounds.get(symbol) is not BY_BRANCH:
            self._bounds[symbol] = (
                asker if asker is not BY_CHECK else (self._bounds.get(symbol, BY_CHECK))
            )
        return asker

    def _note_code(self) -> None:
        self.by_model = True
        for frame in frames_of_model():
            self.codes.setdefault(frame.f_code, frame.f_globals.get("__name__") or "")

    @property
    def relate_many(self) -> bool:
        """Whether the model's own code asks a question that relates many sizes. What it takes for
        a number, as in `int(math.prod(x.shape))`, may stay a size."""
        return any(
            relates_many(relation) and self._counted.isdisjoint(relation.args)
            for relation, _ in self._asked
        )

    def equations(self) -> list[tuple[Any, Any]]:
        """Those of sizes that are equal, each with PyTorch's environment of sizes."""
        asked = [(relation, env) for (relation, _), env in self._asked.items()]
        asked += [(relation, env) for relation, (_, env) in self._by_operators.items()]
        replaced = [(env.replace(relation), env) for relation, env in asked]
        return [each for each in replaced if getattr(each[0], "is_Equality", False)]

    def asker_of_bound(self, symbol: str, beyond: Sequence[int]) -> str:
        """Who asks whether a size is within bounds: what goes on elsewhere counts most, what only
        raises least. `beyond`: sizes that are not."""
        if asker := self._bounds.get(symbol):
            return asker
        # A bound may follow from a question, as from `range(n // 8)`.
        if any(_exclude(self._questions.get(symbol, ()), size) for size in beyond):
            return BY_BRANCH
        checks = self._checks.get(symbol, ())
        return BY_CHECK if all(_exclude(checks, size) for size in beyond) else BY_OPERATOR

    def notes(self, program: ExportedProgram, leaves: Sequence[Leaf]) -> list[Diagnostic]:
        """What tells of each whose answer is another for sizes that the program takes: an error
        where a size must vary and the model's own code asks for it, or an operator fixes a quotient
        of it; a warning otherwise."""
        if not (self._asked or self._by_operators or self._of_few or self._strings):
            return []
        ranges = {str(symbol): known for symbol, known in program.range_constraints.items()}
        names = _names(program, leaves)
        violations: dict[Place, tuple[str, str, str]] = {}
        required = _required(program, leaves)

        def tell(relation: Any, place: Place, env: Any, asker: str) -> None:
            known = env.replace(relation)
            if place not in violations and not _always_so(known, ranges):
                # A relation of several sizes is one that callers keep to: a mask is as long as the
                # past and the tokens.
                symbols = set(map(str, known.free_symbols))
                is_fixing = asker == BY_BRANCH or fixes_quotient(known)
                is_error = is_fixing and len(symbols) == 1 and symbols <= required
                violations[place] = (
                    _relation_text(known, names),
                    asker,
                    "error" if is_error else "warning",
                )

        for (relation, place), env in self._asked.items():
            tell(relation, place, env, BY_BRANCH)
        least = _least_free(program, leaves, ranges)
        for relation, _ in self._of_few:
            for symbol, other in _learnt(program, leaves, relation):
                if other in least:
                    least.setdefault(symbol, least[other])
                names.setdefault(symbol, names.get(other, other))
        for (relation, place), exceptions in self._of_few.items():
            if place not in violations and any(_may_be(few, least) for few in exceptions):
                violations[place] = _relation_text(relation, names), BY_BRANCH, "warning"
        by_model = {relation for relation, _ in self._asked}
        for relation, (place, env) in self._by_operators.items():
            if relation not in by_model:
                tell(relation, place, env, BY_OPERATOR)
                known = env.replace(relation)
                exceptions = _exceptions(known, True) if fixes_quotient(known) else ()
                # Of no elements, PyTorch asks nothing.
                if place not in violations and any(
                    0 not in few.values() and _may_be(few, least) for few in exceptions
                ):
                    violations[place] = _relation_text(relation, names), BY_OPERATOR, "warning"
        strings = [
            _note_of_string(
                place, _relation_text(size, names), is_error=computed and size_names <= required
            )
            for place, (size, computed) in self._strings.items()
            for size_names in [set(map(str, size.free_symbols))]
        ]
        return [*(_note(place, *parts) for place, parts in violations.items()), *strings]


def _place_of_operator() -> Place | None:
    """The innermost line of the model that runs now, or that TorchDynamo traces."""
    return user_place() or place_of_trace(torch_questions.trace_of_dynamo())


# What operators ask that bounds and symbols do not show.
_OF_OPERATORS = (fixes_sizes, excludes_large_sizes, relates_computed_sizes)


def _required(program: ExportedProgram, leaves: Sequence[Leaf]) -> set[str]:
    """The symbols of sizes that must vary."""
    return {
        str(symbol)
        for _, value, leaf in named_inputs(program, leaves)
        for axis, wanted in leaf.dims.items()
        if wanted.policy is ConstantDimPolicy.MUST_VARY
        for symbol in _symbols(value if axis == SCALAR else size_of(value, axis))
    }


def _symbols(size: Any) -> Any:
    return size.node.expr.free_symbols if hasattr(size, "node") else ()


def _exclude(checks: Sequence[Any], size: int) -> bool:
    """Whether some of these relations of one symbol is not so of the size."""
    import sympy

    return any(
        at_sizes(each, dict.fromkeys(each.free_symbols, size)) == sympy.false for each in checks
    )


def _is_bound(relation: Any) -> bool:
    """Whether it bounds one size by a number."""
    import sympy

    if not isinstance(relation, sympy.core.relational.Relational):
        return False
    if isinstance(relation, sympy.Unequality):
        return False
    sides = (relation.lhs, relation.rhs)
    return any(s.is_symbol for s in sides) and any(s.is_number for s in sides)


@functools.lru_cache(maxsize=4096)
def _exceptions(relation: Any, answer: bool) -> tuple[_Few, ...]:
    """Which sizes of 0 and 1 give a relation of sizes another answer than all larger ones."""
    import sympy

    symbols = sorted(relation.free_symbols, key=str)
    is_relation = isinstance(relation, sympy.core.relational.Relational)
    if not is_relation or not symbols or len(symbols) > _MAX_SYMBOLS:
        return ()

    def is_other(sizes: Mapping[Any, int]) -> bool:
        found = at_sizes(relation, sizes)
        return found in (sympy.true, sympy.false) and bool(found) is not answer

    if len(symbols) > 1 and any(is_other(dict.fromkeys(symbols, size)) for size in (3, 64)):
        return ()  # other sizes give other answers, too
    of_few = [dict.fromkeys(each, few) for each in _groups(symbols) for few in (1, 0)]
    others = _sizes_near(relation) if len(symbols) > 1 else [3]
    return tuple(
        {str(symbol): size for symbol, size in few.items()}
        for few in of_few
        if any(
            is_other({**dict.fromkeys(symbols, size), **few})
            and not is_other({**dict.fromkeys(symbols, size), **dict.fromkeys(few, TAKEN_FOR)})
            for size in others
        )
    )


def _groups(symbols: Sequence[Any]) -> list[Sequence[Any]]:
    """Each of them, and all."""
    return [*([symbol] for symbol in symbols), *([symbols] if len(symbols) > 1 else [])]


def _sizes_near(relation: Any) -> list[int]:
    """A few sizes of each magnitude, and those near a relation's numbers."""
    near = {n + d for n in numbers_of(relation) for d in (-1, 0, 1)}
    return sorted(each for each in near.union(_SAMPLES) if each >= TAKEN_FOR)


def _denied(relation: Any) -> Any:
    """The opposite of a relation, which sympy is not to decide."""
    return relation.negated.func(*relation.args, evaluate=False)


def _learnt(
    program: ExportedProgram, leaves: Sequence[Leaf], relation: Any
) -> Iterator[tuple[str, str]]:
    """The symbols of a relation that are another symbol by now, since two sizes turned out to be
    equal."""
    sizes = (
        value if axis == SCALAR else size_of(value, axis)
        for _, value, leaf in named_inputs(program, leaves)
        for axis in leaf.dims
    )
    env = next((size.node.shape_env for size in sizes if hasattr(size, "node")), None)
    if env is None:
        return
    for symbol in relation.free_symbols:
        if (other := env.replace(symbol)) != symbol:
            yield str(symbol), str(other)


def _may_be(few: _Few, least: Mapping[str, int]) -> bool:
    return all(least.get(symbol, TAKEN_FOR) <= size for symbol, size in few.items())


def _least_free(
    program: ExportedProgram, leaves: Sequence[Leaf], ranges: Mapping[str, Any]
) -> dict[str, int]:
    """The minimum that the user set for each size of the program, 0 by default.

    Leaves out sizes with a lower bound above what captures assume: that bound is reported anyway.
    """
    least = {
        str(size_of(value, axis)): wanted.least
        for _, value, leaf in named_inputs(program, leaves)
        for axis, wanted in leaf.dims.items()
        if axis != SCALAR
    }
    return {s: n for s, n in least.items() if s not in ranges or ranges[s].lower <= TAKEN_FOR}


def asked_by_model() -> bool:
    """Whether the answer goes to Python code of the model, or of layers, and not to an operator."""
    return frame_of_model() is not None


def frame_of_model() -> FrameType | None:
    """Who asks about sizes, of the model or of layers; None where an operator does."""
    return asking_frame(_OF_TORCH, _OURS)


def relates_many(relation: Any) -> bool:
    """Whether a question is one of more than two sizes at once, as of a mask that may be longer
    than the past and the tokens. What PyTorch asks behind such a branch is hardly ever known, and
    so the branch is not followed."""
    return len(relation.free_symbols) > _MAX_RELATED


def frame_asking(relation: Any) -> FrameType | None:
    """Who of the model asks for its truth. Of a value that is assigned to a part of a tensor,
    PyTorch asks whether its first dimensions are 1, which count for nothing then."""
    frame = frame_of_model()
    if frame is None or not is_assigning_to_parts(frame):
        return frame
    sides = getattr(relation, "args", ())
    return None if len(sides) == 2 and 1 in sides else frame


# Parts of torch between who asks about a size and what answers.
_OF_TORCH = ("fx/", "__init__.py", "_logging/", "_export/", "overrides.py")
# ... and of this package.
_OURS = ("_torch_private/", "_capture/patches/", "_capture/meta_tracer/tracer/tracer.py")


def _always_so(relation: Any, ranges: Mapping[str, Any]) -> bool:
    """Whether it is so of all sizes that are tried, within what the program takes."""
    import sympy

    symbols = sorted(relation.free_symbols, key=str)
    if not symbols:
        return bool(relation)
    numbers = set(numbers_of(relation))
    # -(-n // 5) is 7 where n is 35.
    numbers |= {abs(a * b) for a, b in itertools.combinations(sorted(numbers)[:_MAX_NUMBERS], 2)}
    near = {n + d for n in numbers for d in (-1, 0, 1)}
    values = [_within(sorted(near.union(_SAMPLES)), ranges.get(str(s))) for s in symbols]
    # Each with each, those that are all equal first, so that few are enough of many symbols.
    together = zip(*values, strict=False)
    tried = itertools.islice(itertools.chain(together, itertools.product(*values)), _MAX_TRIED)
    # Where nothing can be said of a relation of numbers, it is not told.
    return not any(
        at_sizes(relation, dict(zip(symbols, sizes, strict=True))) == sympy.false for sizes in tried
    )


def _within(sizes: Sequence[int], known: Any) -> list[int]:
    if known is None:
        return [size for size in sizes if size >= TAKEN_FOR]
    least = max(int(known.lower), TAKEN_FOR) if known.lower.is_number else TAKEN_FOR
    found = [size for size in {*sizes, least} if least <= size <= known.upper]
    return sorted(found) or [least]


def _only_raises(place: Place, asking: FrameType) -> bool:
    """Whether the model does no other thing for other sizes than raise. A layer of PyTorch's asks
    in a line of its own."""
    callers = list(frames_of_model())
    if _is_check(place) and not is_caught(callers):
        return True
    others = [each for each in callers if each is not asking]
    return answer_that_goes_on([asking, *others], asked_by_call=False) is not None


@functools.cache
def _is_check(place: Place) -> bool:
    """Whether the line asserts something, or only raises otherwise: then the model does no other
    thing for other sizes."""
    for node in ast.walk(parsed(place.file)):
        if isinstance(node, ast.Assert) and node.lineno <= place.line <= (node.end_lineno or 0):
            return True
        if isinstance(node, ast.If) and node.test.lineno <= place.line <= (
            node.test.end_lineno or 0
        ):
            return isinstance(node.body[-1], ast.Raise) and not node.orelse
    return False


def _names(program: ExportedProgram, leaves: Sequence[Leaf]) -> dict[str, str]:
    """What users call the program's sizes: x.shape[0] of those that have no name."""
    names = symbol_names(program, leaves)
    for name, value, leaf in named_inputs(program, leaves):
        for axis in leaf.dims:
            size = value if axis == SCALAR else size_of(value, axis)
            label = name if axis == SCALAR else f"{name}.shape[{axis}]"
            names.setdefault(str(size), label)
    return names


def _relation_text(relation: Any, names: Mapping[str, str]) -> str:
    import sympy

    stand = {s: sympy.Symbol(names.get(str(s), str(s))) for s in relation.free_symbols}
    named = relation.xreplace(stand)
    for kind, sign in ((sympy.Unequality, "!="), (sympy.Equality, "==")):
        if isinstance(named, kind):
            return f"{named.lhs} {sign} {named.rhs}"
    return str(named)


def note_of_branch(place: Place, relation: str) -> Diagnostic:
    """A warning of a branch that the program has one side of."""
    return _note(place, relation, BY_BRANCH, "warning")


def _note(place: Place, relation: str, asker: str, severity: str) -> Diagnostic:
    by_model = "write the branch with torch.cond, or keep to such sizes"
    by_operator = "give an example for which it is not so, of larger sizes, or keep to such sizes"
    return Diagnostic(
        "SX1015",
        f"{asker} asks of dynamic sizes whether {relation}, at {place}: "
        "what it computes of sizes for which the answer is another is not in the model",
        severity=severity,
        help=by_operator if asker == BY_OPERATOR else by_model,
        file=place.file,
        line=place.line,
        function=place.function,
    )


def _note_of_string(place: Place, size: str, *, is_error: bool) -> Diagnostic:
    return Diagnostic(
        "SX1015",
        f"the model's own code makes a string of a dynamic dimension ({size}), at {place}: "
        "what it decides or computes by it is not in the model",
        severity="error" if is_error else "warning",
        help="compute with the size itself, or make the dimension static",
        file=place.file,
        line=place.line,
        function=place.function,
    )
