"""What capture asks of symbolic sizes, and of data, while it does."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .fake_tensors import decided_by_data
from .probing import Probe, has, lookup, patched
from .sizes import SYMBOLIC_SHAPES, example_sizes, is_known, known_answer, names_of_sizes

_NODE = "torch.fx.experimental.sym_node"
CONSTANTS = Probe(
    "the line that makes a dimension constant",
    has(SYMBOLIC_SHAPES, "ShapeEnv._update_var_to_range", "ShapeEnv._set_replacement"),
)


@contextmanager
def watching_sizes(on_fixed: Callable[[list[str]], None]) -> Iterator[None]:
    """Within it, `on_fixed` is called with the names of a size ("L['x'].size()[0]") that capture
    makes constant, while it does."""
    if not CONSTANTS.available:
        yield
        return
    kind = lookup(SYMBOLIC_SHAPES, "ShapeEnv")
    narrowed, replaced = kind._update_var_to_range, kind._set_replacement

    def narrow(env: Any, symbol: Any, *args: Any, **kwargs: Any) -> Any:
        result = narrowed(env, symbol, *args, **kwargs)
        with CONSTANTS.watching():
            if env.var_to_range[symbol].is_singleton():
                on_fixed(names_of_sizes(env, (symbol,)))
        return result

    def replace(env: Any, symbol: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        with CONSTANTS.watching():
            if target.is_number:
                on_fixed(names_of_sizes(env, (symbol,)))
        try:
            return replaced(env, symbol, target, *args, **kwargs)
        except AssertionError:
            # It halves ranges that end near 2**63 in floats, and asserts that nothing is lost. The
            # two stay two, whose equality is still asked.
            return None

    with (
        patched(kind, "_update_var_to_range", narrow),
        patched(kind, "_set_replacement", replace),
    ):
        yield


QUESTIONS = Probe("notes of what is asked of sizes", has(SYMBOLIC_SHAPES, "ShapeEnv._log_guard"))


@contextmanager
def watching_questions(
    on_asked: Callable[[Any, Any], None], on_asserted: Callable[[Any, Any], None] | None = None
) -> Iterator[None]:
    """Within it, `on_asked` is called with the ShapeEnv and each relation of sizes that capture
    takes for true because the example's sizes have it, while it does, and `on_asserted` with those
    that the program is to assert."""
    if not QUESTIONS.available:
        yield
        return
    kind = lookup(SYMBOLIC_SHAPES, "ShapeEnv")
    logged = kind._log_guard

    def log(env: Any, prefix: str, relation: Any, *args: Any, **kwargs: Any) -> Any:
        hear = {"eval": on_asked, "runtime_assert": on_asserted}.get(prefix)
        if hear is not None:  # nothing hangs on the others
            with QUESTIONS.watching():
                hear(env, relation)
        return logged(env, prefix, relation, *args, **kwargs)

    with patched(kind, "_log_guard", log):
        yield


UNLEARNT = Probe(
    "questions of operators that change no result",
    has(
        SYMBOLIC_SHAPES,
        *(f"ShapeEnv.{n}" for n in ("_log_guard", "guard_or_defer_runtime_assert")),
        "ShapeEnv.suppress_guards",
    ),
    has("torch._subclasses.fake_tensor", "disable_fake_tensor_cache"),
)


# How often an operator asserts the same of a size, which is known.
_MAX_ASSERTED = 100


@contextmanager
def answering_without_learning(env: Any, on_asked: Callable[[Any], None]) -> Iterator[list[Any]]:
    """Within it, what is asked of sizes is answered for the example's, and the ShapeEnv learns
    nothing by it. Gives the relations that hold by these answers. `on_asked` is called with each
    before it is answered, and with what is known and asserted again and again, as in a loop that
    others keep from its end; it may raise."""
    relations: list[Any] = []
    asserted: Counter[Any] = Counter()
    kind = lookup(SYMBOLIC_SHAPES, "ShapeEnv")
    logged = kind._log_guard

    def note(relation: Any) -> None:
        on_asked(relation)
        relations.append(relation)

    def log(asked: Any, prefix: str, relation: Any, *args: Any, **kwargs: Any) -> Any:
        if relation not in relations:
            note(relation)
        return logged(asked, prefix, relation, *args, **kwargs)

    # PyTorch's own remembers its answers, and learns nothing by one that it remembers.
    def assert_(asked: Any, relation: Any, *_: Any, **__: Any) -> bool:
        if (answer := known_answer(asked, relation)) is not None:
            asserted[relation] += 1
            if asserted[relation] > _MAX_ASSERTED:
                on_asked(relation)
            return answer
        if relation not in relations:
            note(relation)
        return bool(relation.xreplace(example_sizes(asked)))

    with (
        env.suppress_guards(),
        patched(kind, "_log_guard", log),
        patched(kind, "guard_or_defer_runtime_assert", assert_),
    ):
        yield relations


DYNAMO_PLACES = Probe(
    "the lines that TorchDynamo traces", has("torch._guards", "TracingContext.extract_stack")
)


def trace_of_dynamo() -> str:
    """The lines that TorchDynamo traces now, as a traceback has them; empty outside of it. No frame
    runs these."""
    if not DYNAMO_PLACES.available:
        return ""
    return "".join(lookup("torch._guards", "TracingContext").extract_stack().format())


CHECKS = Probe("checks of sizes", has(_NODE, "SymNode.expect_true"))


@contextmanager
def watching_checks(on_checked: Callable[[Any], None]) -> Iterator[None]:
    """Within it, `on_checked` is called with each relation of sizes beyond which an operator, or
    `torch._check`, raises. What capture asked and put off is checked in the program by itself, and
    is left out. So is what the answers so far say: after `x[:end]` was captured for a positive end,
    no tensor of that length is checked to have one."""
    if not CHECKS.available:
        yield
        return
    kind = lookup(_NODE, "SymNode")
    expected = kind.expect_true
    put_off: set[Any] = set()
    depth = 0

    def expect(node: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        with CHECKS.watching():
            is_new = node.expr.free_symbols and node.expr not in put_off
            if is_new and not is_known(node.shape_env, node.expr):
                on_checked(node.expr)
        depth += 1
        try:
            return expected(node, *args, **kwargs)
        finally:
            depth -= 1

    def hear(_: Any, relation: Any) -> None:
        if depth == 0:
            put_off.add(relation)

    with watching_questions(lambda *_: None, hear), patched(kind, "expect_true", expect):
        yield


_RELATIONS = ("eq", "ne", "gt", "ge", "lt", "le")
# Functions that give one of two sizes, and the relation of that to the other.
_CHOICES = {"sym_max": "Ge", "sym_min": "Le"}
# What Python takes a size for: a truth, or a number of its own.
_ANSWERS = ("guard_bool", "guard_int", "guard_float")
TRUTHS = Probe(
    "notes of answers that sizes of 0 and 1 change",
    has(_NODE, *(f"SymNode.{n}" for n in (*_ANSWERS, "abs", "mod", *_RELATIONS, *_CHOICES))),
)


@contextmanager
def watching_truths(
    on_answered: Callable[[Any, bool], None], on_counted: Callable[[Any], None]
) -> Iterator[None]:
    """Within it, `on_answered` is called with each relation of sizes that Python asks the truth of,
    and the answer. What sympy knows of any positive number is such a relation, too, and the one by
    which it takes one of two sizes for the larger: `max(size, 1)`, a size for the amount of
    another: `abs(size - 2)`, and a number for its own remainder: `1 % (size + 1)`. So is what
    Python takes for a number, as the end of a range.
    """
    if not TRUTHS.available:
        yield
        return
    import sympy

    kind = lookup(_NODE, "SymNode")
    asked, absolute, divided = kind.guard_bool, kind.abs, kind.mod
    known = {sympy.true, sympy.false, True, False}

    def comparing(name: str) -> Callable[[Any, Any], Any]:
        compare, relation = getattr(kind, name), getattr(sympy, name.capitalize())

        def compared(node: Any, other: Any) -> Any:
            made = compare(node, other)
            with TRUTHS.watching():
                if made._expr in known and node.expr.free_symbols:
                    made.compared = relation(node.expr, other.expr, evaluate=False)
            return made

        return compared

    def ask(node: Any, *args: Any, **kwargs: Any) -> Any:
        answer = asked(node, *args, **kwargs)
        with TRUTHS.watching():
            on_answered(getattr(node, "compared", node.expr), answer)
        return answer

    def counting(name: str) -> Callable[..., Any]:
        count = getattr(kind, name)

        def counted(node: Any, *args: Any, **kwargs: Any) -> Any:
            number = count(node, *args, **kwargs)
            with TRUTHS.watching():
                if node.expr.free_symbols:
                    on_counted(node.expr)
                    on_answered(sympy.Eq(node.expr, number, evaluate=False), True)
            return number

        return counted

    def take(made: Any, relation: Any, answer: bool) -> None:
        """Reports what a size was taken for, also where it is taken for it once more."""
        made.on_given_again = functools.partial(on_answered, relation, answer)
        on_answered(relation, answer)

    def choosing(name: str) -> Callable[[Any, Any], Any]:
        choose, relation = getattr(kind, name), getattr(sympy, _CHOICES[name])

        def chosen(node: Any, other: Any) -> Any:
            made = choose(node, other)
            with TRUTHS.watching():
                first, second = node.expr, other.expr
                taken, left = (first, second) if made.expr == first else (second, first)
                if made.expr == taken and first != second:
                    take(made, relation(taken, left, evaluate=False), True)
                elif left_out := _left_out(made.expr, (first, second)):
                    # One side is a choice made before, and only a part of it is left.
                    nearest = max(left_out) if name == "sym_max" else min(left_out)
                    take(made, relation(made.expr, nearest, evaluate=False), True)
            return made

        return chosen

    def amount(node: Any) -> Any:
        made = absolute(node)
        with TRUTHS.watching():
            is_same = made.expr == node.expr
            if node.expr.free_symbols and (is_same or made.expr == -node.expr):
                on_answered(sympy.Ge(node.expr, 0, evaluate=False), is_same)
        return made

    def remainder(node: Any, other: Any) -> Any:
        made = divided(node, other)
        with TRUTHS.watching():
            size, divisor = node.expr, other.expr
            if made.expr == size and divisor.free_symbols and size != 0:
                take(made, sympy.Lt(size, divisor, evaluate=False), True)
        return made

    with ExitStack() as stack:
        stack.enter_context(patched(kind, "guard_bool", ask))
        stack.enter_context(patched(kind, "abs", amount))
        stack.enter_context(patched(kind, "mod", remainder))
        for name in _ANSWERS[1:]:
            stack.enter_context(patched(kind, name, counting(name)))
        for name in _RELATIONS:
            stack.enter_context(patched(kind, name, comparing(name)))
        for name in _CHOICES:
            stack.enter_context(patched(kind, name, choosing(name)))
        yield


def _left_out(made: Any, operands: tuple[Any, ...]) -> list[Any]:
    """The numbers among the operands, and among the parts of those that are a maximum or a minimum,
    that are no part of what was made of them."""
    parts = [part for each in operands for part in _parts(each)]
    return [part for part in parts if part.is_number and part not in _parts(made)]


def _parts(expression: Any) -> Any:
    return expression.args if type(expression).__name__ in {"Max", "Min"} else (expression,)


ANSWERS = Probe(
    "assertions of data",
    has(_NODE, "SymNode.guard_bool"),
    has(SYMBOLIC_SHAPES, "uninteresting_files"),
)


@contextmanager
def answering_of_data(answer: Callable[[Any], bool | None]) -> Iterator[None]:
    """Within it, a truth that capture cannot know, since it hangs on data, is what `answer` gives
    for its SymNode; where that is None, capture fails as it does."""
    if not ANSWERS.available:
        yield
        return
    kind, symbolic = lookup(_NODE, "SymNode"), lookup(SYMBOLIC_SHAPES)
    asked, hidden = kind.guard_bool, symbolic.uninteresting_files

    def ask(node: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return asked(node, *args, **kwargs)
        except decided_by_data():
            if (answered := answer(node)) is None:
                raise
            return answered

    def hidden_with_this() -> set[str]:  # so that errors name who asked
        return {*hidden(), __file__}

    with (
        patched(kind, "guard_bool", ask),
        patched(symbolic, "uninteresting_files", hidden_with_this),
    ):
        yield


LIMITS = Probe(
    "a limit for what is asked of sizes", has(SYMBOLIC_SHAPES, "ShapeEnv._maybe_evaluate_static")
)


@contextmanager
def limiting_sizes(most: int, in_all: int, stop: type[BaseException]) -> Iterator[None]:
    """Within it, capture ends with `stop` where it asks something of sizes that takes an expression
    of more than `most` terms to say, or more than `in_all` with all that it has asked."""
    if not LIMITS.available:
        yield
        return
    kind = lookup(SYMBOLIC_SHAPES, "ShapeEnv")
    asked = kind._maybe_evaluate_static
    total = 0

    @functools.wraps(asked)  # with what forgets its answers
    def ask(env: Any, relation: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal total
        terms = _count_terms(relation, most)
        total += terms
        if terms > most or total > in_all:
            raise stop
        return asked(env, relation, *args, **kwargs)

    with patched(kind, "_maybe_evaluate_static", ask):
        yield


def _count_terms(expression: Any, most: int) -> int:
    """How many terms it has, or one more than `most`."""
    left, count = [expression], 0
    while left and count <= most:
        count += 1
        left.extend(left.pop().args)
    return count


BRANCHES = Probe(
    "branches on sizes that are in the model",
    has(_NODE, "SymNode.guard_bool", "SymNode.guard_int", "SymNode.hint"),
    has(SYMBOLIC_SHAPES, "ShapeEnv.evaluate_expr", "ShapeEnv.guard_or_defer_runtime_assert"),
)


@contextmanager
def answering_of_sizes(
    truth: Callable[[Any], bool | None],
    value: Callable[[Any, Any, Any], Any],
    check: Callable[[Any, Any], bool | None],
    hint: Callable[[Any], Any],
    number: Callable[[Any], int | None],
) -> Iterator[None]:
    """Within it, others answer what is asked of symbolic sizes, where they do not give None.

    `truth` is given a SymNode that Python asks the truth of, `value` a ShapeEnv, an expression that
    PyTorch evaluates and its fallback, `check` a ShapeEnv and a relation that PyTorch asserts, and
    `hint` a SymNode whose size in the example is asked, and `number` one that Python takes for a
    number."""
    kind, env_kind = lookup(_NODE, "SymNode"), lookup(SYMBOLIC_SHAPES, "ShapeEnv")
    asked, counted, known = kind.guard_bool, kind.guard_int, kind.hint.fget
    evaluated, asserted = env_kind.evaluate_expr, env_kind.guard_or_defer_runtime_assert

    def ask(node: Any, *args: Any, **kwargs: Any) -> Any:
        answer = truth(node)
        return asked(node, *args, **kwargs) if answer is None else answer

    def count(node: Any, *args: Any, **kwargs: Any) -> int:
        answer = number(node)
        return counted(node, *args, **kwargs) if answer is None else answer

    def evaluate(env: Any, expression: Any, *args: Any, **kwargs: Any) -> Any:
        answer = value(env, expression, kwargs.get("fallback_value"))
        return evaluated(env, expression, *args, **kwargs) if answer is None else answer

    def assert_(env: Any, relation: Any, *args: Any, **kwargs: Any) -> Any:
        answer = check(env, relation)
        return asserted(env, relation, *args, **kwargs) if answer is None else answer

    def size(node: Any) -> Any:
        answer = hint(node)
        return known(node) if answer is None else answer

    with (
        patched(kind, "guard_bool", ask),
        patched(kind, "guard_int", count),
        patched(kind, "hint", property(size)),
        patched(env_kind, "evaluate_expr", evaluate),
        patched(env_kind, "guard_or_defer_runtime_assert", assert_),
    ):
        yield


@contextmanager
def hearing_truths_asked(hear: Callable[[Any], None]) -> Iterator[None]:
    """Within it, `hear` is given each SymNode that Python asks the truth of."""
    kind = lookup(_NODE, "SymNode")
    asked = kind.guard_bool

    def ask(node: Any, *args: Any, **kwargs: Any) -> Any:
        hear(node)
        return asked(node, *args, **kwargs)

    with patched(kind, "guard_bool", ask):
        yield


def relation_of(node: Any) -> Any:
    """The relation that a truth of sizes stands for, also one that sympy takes for always so."""
    return getattr(node, "compared", node.expr)


def relation_that_may_fail(truth: Any) -> Any:
    """The relation of a SymBool that sympy simplifies to true or false since it assumes positive
    sizes, and that a size of 0 may change; None for any other SymBool."""
    return getattr(getattr(truth, "node", None), "compared", None)
