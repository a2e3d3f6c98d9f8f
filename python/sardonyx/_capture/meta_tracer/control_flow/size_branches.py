"""Branches of Python on sizes: `if x.shape[1] > 5:`.

What the model asks of sizes before such a branch, and what operators ask, becomes guards as in
torch.export. Behind it, guards would hold for one side alone. So what is asked there is answered
by samples of the sizes that lead there, and declined where these disagree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from sardonyx._capture.guards.bytecode_control_flow import answer_that_goes_on
from sardonyx._capture.guards.guards import frame_asking, frame_of_model
from sardonyx._capture.guards.irrelevant_guards import is_immaterial
from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.immaterial_questions import may_be_immaterial
from sardonyx._capture.meta_tracer.symbolic.equations import contradict
from sardonyx._capture.meta_tracer.symbolic.relations import at_sizes, fixes_sizes
from sardonyx._capture.meta_tracer.symbolic.size_samples import Condition, SizeSamples, truth_at
from sardonyx._capture.meta_tracer.symbolic.size_tables import Row, outcomes
from sardonyx._capture.meta_tracer.symbolic.sizes import told_of_equal_sizes
from sardonyx._capture.source_location import Place, frames_of_model, user_place
from sardonyx._torch_private import questions as torch_questions
from sardonyx._torch_private import sizes as torch_sizes

from .if_conversion import IfConversion

# A loop that asks the same of sizes so often does not end for some of them.
_MAX_ASKED = 1000


class ImpossibleWayError(DeclinedError):
    """No sizes lead to where the run is: PyTorch raises for all that take the last branch so."""

    def __init__(self) -> None:
        super().__init__("no sizes lead here")


class SizeBranches:
    """Answers conditions on sizes where both outcomes of a branch are captured.

    `path` gives the branches on sizes that the run has taken, `part` the answer to a question that
    both sides of a branch are to be followed for, `ifs` those that need no branch.
    """

    def __init__(
        self,
        env: Any,
        samples: SizeSamples,
        path: Callable[[], list[Condition]],
        part: Callable[[Any], bool],
        ifs: IfConversion,
    ) -> None:
        self.checks: dict[Place, None] = {}  # of sizes, that the program leaves out
        # Whether operators were answered otherwise than some sizes are that lead to here.
        self.is_generic = False
        self._env = env
        self._samples = samples
        self._path = path
        self._part = part
        self._example: Row = {}  # of the path, where it is not the user's
        self._asserted: dict[Condition, None] = {}
        self._asked: Counter[Any] = Counter()  # by the run
        # What its operators count on from there: they ask it again, and may do so until it is so.
        self._checked_by_torch: set[Any] = set()
        self._ifs = ifs

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Within it, both sides of branches on sizes are followed."""
        answers = (self._truth, self._value, self._check, self._size, self._number)
        with (
            told_of_equal_sizes(self._is_so, self._make_equal),
            torch_questions.answering_of_sizes(*answers),
            self._ifs.followed(self._conditions),
        ):
            yield

    def begin_path(self, *, anew: bool) -> None:
        """Has the example's sizes be such as lead to where the run is, which may begin anew."""
        self._asked.clear()
        self.is_generic = False
        if anew:
            self._asserted.clear()
            self._checked_by_torch.clear()
        self._example = {}
        if self._path():
            found = self._samples.example(self._conditions())
            if found is None:
                raise DeclinedError("no sizes are found that lead to a branch")
            self._example = found

    def _conditions(self) -> list[Condition]:
        """What is known of sizes where the run is."""
        guards = [Condition(each, True) for each in torch_sizes.guards_of(self._env)]
        return list(dict.fromkeys([*guards, *self._path(), *self._asserted]))

    def _truth(self, node: Any) -> bool | None:
        """The answer to a question of the model's own code; None where others give it."""
        relation = torch_questions.relation_of(node)
        if not _is_of_sizes(relation) or (asking := frame_asking(relation)) is None:
            return None
        self._asked[relation] += 1
        if self._asked[relation] > _MAX_ASKED:
            raise DeclinedError(f"a loop goes on as long as {relation}, which it does not change")
        is_behind = bool(self._path())
        answers = self._samples.answers(self._conditions(), relation) - {None}
        if len(answers) == 1:
            return answers.pop() if is_behind else None
        if (goes_on := _answer_of_check(asking)) is not None:
            return self._checked(relation, goes_on) if is_behind else None
        if is_immaterial(asking):
            return truth_at(relation, self._example) if is_behind else None
        answer = self._ifs.answer(asking, relation)
        return self._part(relation) if answer is None else answer

    def _number(self, node: Any) -> int | None:
        """The number that Python takes a size for, as the end of a loop: of a few, each is a
        branch."""
        expression = node.expr
        if not _is_of_sizes(expression) or frame_of_model() is None:
            return None
        values = self._samples.few_values(self._conditions(), expression)
        if values is None or (len(values) == 1 and not self._path()):
            return None
        import sympy

        for value in values[:-1]:
            if self._truth_of(sympy.Eq(expression, value, evaluate=False)):
                return value
        return values[-1]

    def _truth_of(self, relation: Any) -> bool:
        answers = self._samples.answers(self._conditions(), relation) - {None}
        return answers == {True} if len(answers) == 1 else self._part(relation)

    def _checked(self, relation: Any, goes_on: bool) -> bool:
        self._asserted[Condition(relation, goes_on)] = None
        if (place := user_place()) is not None:
            self.checks.setdefault(place)
        return goes_on

    def _value(self, _: Any, expression: Any, fallback: Any) -> Any:
        """What an expression is, which PyTorch asks for: of the model's own code, too."""
        import sympy

        if not _is_of_sizes(expression):
            return None
        if expression not in self._checked_by_torch and self._is_so_but_for_few(expression):
            return sympy.false
        if not self._path():
            return None
        if Condition(expression, True) in self._asserted:
            return sympy.true  # where no sizes are known for which it is, too
        value = self._samples.value(self._conditions(), expression)
        if value is not None:
            return value
        if fallback is None:
            fallback = self._generic_answer(expression)
            self.is_generic |= fallback is not None
        if fallback is None and may_be_immaterial(expression):
            fallback = truth_at(expression, self._example)
        if fallback is None:
            if contradict(self._conditions()):
                raise ImpossibleWayError
            raise DeclinedError(f"behind a branch on sizes, PyTorch asks for {expression}")
        return _as_sympy(fallback)

    def _is_so_but_for_few(self, relation: Any) -> bool:
        """Whether it makes a computed size a number, and sizes of 0 or 1 deny it: `min(n, 1) == 1`.
        The size stays open where it is not so for any."""
        if not fixes_sizes(relation) or relation.lhs.is_symbol or relation.rhs.is_symbol:
            return False
        conditions = self._conditions()
        if self._samples.value(conditions, relation) != True:  # noqa: E712 (one of sympy's)
            return False
        return False in self._samples.answers(conditions, relation)

    def _generic_answer(self, relation: Any) -> bool | None:
        """What an equality of sizes is but for a few of them, for which operators compute the
        same, or raise."""
        import sympy

        if not isinstance(relation, (sympy.Equality, sympy.Unequality)):
            return None
        rows = self._samples.rows(self._conditions(), relation)
        if not len(rows):
            return None
        return bool(2 * outcomes(relation, rows).is_true.sum() > len(rows))

    def holds(self, truth: Any) -> bool:
        """Whether a truth of sizes is so for all that lead to where the run is."""
        if isinstance(truth, bool):
            return truth
        relation = torch_questions.relation_of(truth.node)
        if not _is_of_sizes(relation):
            return torch_sizes.is_always_true(truth)
        return self._samples.answers(self._conditions(), relation) == {True}

    def _is_so(self, relation: Any) -> bool:
        """Whether a relation holds for all sizes that lead to where the run is."""
        if not self._path() or not _is_of_sizes(relation):
            return False
        return self._samples.answers(self._conditions(), relation) == {True}

    def _make_equal(self, first: Any, second: Any) -> bool:
        """Asserts that two sizes are equal that meet in an operator, as PyTorch does where it takes
        neither for 1."""
        import sympy

        equality = sympy.Eq(first, second)
        if not self._path() or not isinstance(equality, sympy.Equality):
            return False
        if not _is_of_sizes(equality):
            return False
        known = (self._value(None, sympy.Eq(size, 1), False) for size in (first, second))
        if any(value == sympy.true for value in known):
            return False
        if True not in self._samples.answers(self._conditions(), equality):
            return False
        return self._check(None, equality) is True

    def _check(self, _: Any, relation: Any) -> bool | None:
        """What PyTorch asserts, or torch._check()."""
        self._checked_by_torch.add(relation)
        if not self._path() or not _is_of_sizes(relation):
            return None
        condition = Condition(relation, True)
        self._asked[condition] += 1
        if self._asked[condition] > _MAX_ASKED:
            raise DeclinedError(f"PyTorch goes on asserting that {relation}")
        self._asserted[condition] = None
        return True

    def assert_above_0(self, sizes: Sequence[Any]) -> None:
        """Takes sizes for at least 1, for which the model raises otherwise."""
        import sympy

        for size in sizes:
            expression = size.node.expr if hasattr(size, "node") else size
            if _is_of_sizes(expression):
                self._asserted[Condition(sympy.Ge(expression, 1, evaluate=False), True)] = None

    def is_of_example(self, relation: Any, answer: bool) -> bool:
        """Whether it is the relation's answer for the user's example."""
        example = {each: int(size) for each, size in torch_sizes.example_sizes(self._env).items()}
        return truth_at(relation, example) is answer

    def _size(self, node: Any) -> Any:
        """What a size is in the example of the path."""
        if not self._example:
            return None
        found = at_sizes(node.expr, self._example)
        is_known = found is not None and (found.is_number or found.is_Boolean)
        return node.pytype(found) if is_known else None


def _is_of_sizes(relation: Any) -> bool:
    symbols = getattr(relation, "free_symbols", ())
    return bool(symbols) and not any(map(torch_sizes.is_of_data, symbols))


def _answer_of_check(asking: FrameType) -> bool | None:
    """What a question has to be answered for the model to go on, where it otherwise only raises;
    None of other questions."""
    callers = [each for each in frames_of_model() if each is not asking]
    return answer_that_goes_on([asking, *callers], asked_by_call=False)


def _as_sympy(truth: Any) -> Any:
    import sympy

    return sympy.true if truth else sympy.false
