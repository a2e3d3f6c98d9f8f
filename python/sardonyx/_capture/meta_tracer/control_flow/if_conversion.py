"""Bodies of `if` that run for all sizes, since they change nothing for those that the test denies:
`if n % 4 != 0: x = pad(x, (0, 4 - n % 4))`.

So such an `if` needs no two branches: a dozen of them would be thousands of paths. Once the body
has run, each variable that it assigned is compared with what the variable held before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NoReturn

import torch

from sardonyx._capture.guards.convertible_ifs import ConvertibleIf, convertible_if
from sardonyx._capture.guards.guards import frame_asking, relates_many
from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._capture.meta_tracer.symbolic.size_samples import Condition, SizeSamples
from sardonyx._capture.meta_tracer.tracer.tracer import Recorder
from sardonyx._torch_private import questions as torch_questions
from sardonyx._torch_private import sizes as torch_sizes

_PADS = frozenset({torch.ops.aten.pad.default, torch.ops.aten.constant_pad_nd.default})
_SLICE = torch.ops.aten.slice.Tensor
_SLICE_DEFAULTS = (None, 0, None, None, 1)
_COPIES = frozenset(
    {torch.ops.aten.contiguous.default, torch.ops.aten.clone.default, torch.ops.aten.alias.default}
)


class ConvertibleIfError(DeclinedError):
    """The model asks of sizes in an `if` whose body may run for all of them."""

    def __init__(self) -> None:
        super().__init__("branches on sizes that need not be branches")


@contextmanager
def stopping_at_convertible_ifs() -> Iterator[None]:
    """Within it, ConvertibleIfError is raised where the model asks such a question, whose answer
    its sizes do not decide."""

    def truth(node: Any) -> None:
        relation = torch_questions.relation_of(node)
        if not getattr(relation, "free_symbols", ()) or (asking := frame_asking(relation)) is None:
            return
        if any(map(torch_sizes.is_of_data, relation.free_symbols)):
            return
        if relates_many(relation) or torch_sizes.is_known(node.shape_env, relation):
            return
        if convertible_if(asking) is None:
            return
        raise ConvertibleIfError

    with torch_questions.hearing_truths_asked(truth):
        yield


class UnconvertedIfError(DeclinedError):
    """The body of an `if` was run for all sizes, and it changes something for some of them."""

    def __init__(self, found: ConvertibleIf) -> None:
        super().__init__(f"an `if` on sizes, at {found.file}, line {found.first_line}")
        self.found = found


@dataclass
class _Open:
    """An `if` whose test has asked something, and whose body has not ended."""

    found: ConvertibleIf
    frame: FrameType
    before: dict[str, Any]
    calls: int
    relations: list[Any] = field(default_factory=list)
    is_entered: bool = False

    @property
    def condition(self) -> Any:
        import sympy

        join = sympy.Or if self.found.is_or else sympy.And
        if len(self.relations) == 1:
            return self.relations[0]
        return join(*self.relations, evaluate=False)


class IfConversion:
    """Answers the tests of such statements, and checks what their bodies do.

    `unconverted` are those that are known to change something, by file and line.
    """

    def __init__(
        self,
        recorder: Recorder,
        env: Any,
        samples: SizeSamples,
        unconverted: set[tuple[str, int]],
    ) -> None:
        self._recorder = recorder
        self._env = env
        self._samples = samples
        self._conditions: Callable[[], list[Condition]] = list
        self._unconverted = unconverted
        self._open: list[_Open] = []

    @contextmanager
    def followed(self, conditions: Callable[[], list[Condition]]) -> Iterator[None]:
        """Within it, statements are answered; `conditions` gives what is known of sizes where the
        run is."""
        self._conditions = conditions
        try:
            with torch_sizes.differences_made(self._difference):
                yield
        finally:
            for each in self._open:
                each.frame.f_trace = None
            self._open.clear()

    def answer(self, asking: FrameType, relation: Any) -> bool | None:
        """The answer by which the body runs; None of other questions."""
        known = convertible_if(asking)
        if known is None or (known[0].file, known[0].first_line) in self._unconverted:
            return None
        found, is_last = known
        opened = next(
            (each for each in self._open if each.frame is asking and each.found is found), None
        )
        if opened is None:
            opened = self._begin(found, asking)
        opened.relations.append(relation)
        opened.is_entered = is_last
        return is_last or not found.is_or

    def _begin(self, found: ConvertibleIf, frame: FrameType) -> _Open:
        before = {name: frame.f_locals[name] for name in found.stored if name in frame.f_locals}
        opened = _Open(found, frame, before, self._recorder.count_of_writes)
        self._open.append(opened)
        self._trace(opened)
        return opened

    def _trace(self, opened: _Open) -> None:
        """Has the check run where the frame goes on behind the body."""
        before, local = sys.gettrace(), opened.frame.f_trace
        found = opened.found

        def ends(event: str, line: int) -> bool:
            is_within = found.first_line <= line <= found.last_line
            if event == "line" and found.body[0].lineno <= line <= found.last_line:
                opened.is_entered = True
            return event in ("return", "exception") or (event == "line" and not is_within)

        def traced(frame: FrameType, event: str, argument: Any) -> Any:
            if local is not None:
                local(frame, event, argument)
            if not ends(event, frame.f_lineno):
                return traced
            sys.settrace(before)
            frame.f_trace = local
            self._open.remove(opened)
            if event != "exception":
                self._check(opened, frame.f_locals)
            return local

        opened.frame.f_trace = traced
        sys.settrace(before or _untraced)

    def _difference(self, size: Any, other: Any) -> Any:
        """`k - n % k` in a body that runs where n is no multiple of k: `-n % k`, which is 0 where
        it is one."""
        opened = next((each for each in reversed(self._open) if each.is_entered), None)
        if opened is None or type(other).__name__ not in {"Mod", "PythonMod"}:
            return None
        of, divisor = other.args
        if size != divisor or not divisor.is_Integer or divisor <= 0:
            return None
        import sympy

        conditions = [*self._conditions(), Condition(opened.condition, True)]
        if self._samples.answers(conditions, sympy.Eq(other, 0, evaluate=False)) != {False}:
            return None
        return divisor * torch_sizes.rounded_quotient(of + divisor - 1, divisor) - of

    def _check(self, opened: _Open, after: Mapping[str, Any]) -> None:
        """Raises where a variable holds another value for sizes that the test denies."""
        found = opened.found
        if not opened.is_entered:
            if found.is_or:  # whose parts were answered for the body to run
                self._refuse(found)
            return
        if self._recorder.count_of_writes != opened.calls:
            self._refuse(found)
        conditions = [*self._conditions(), Condition(opened.condition, False)]
        for name in sorted(found.stored):
            if name in found.new:
                continue
            if name not in opened.before or name not in after:
                self._refuse(found)
            if not self._is_same(opened.before[name], after[name], conditions):
                self._refuse(found)

    def _refuse(self, found: ConvertibleIf) -> NoReturn:
        self._unconverted.add((found.file, found.first_line))
        error = UnconvertedIfError(found)
        error.answered()  # the run begins anew
        raise error

    def _is_same(self, before: Any, after: Any, conditions: list[Condition]) -> bool:
        if before is after:
            return True
        if isinstance(before, torch.Tensor) and isinstance(after, torch.Tensor):
            return self._is_same_tensor(before, after, conditions)
        if isinstance(before, (tuple, list)) and type(before) is type(after):
            return len(before) == len(after) and all(
                self._is_same(one, other, conditions)
                for one, other in zip(before, after, strict=True)
            )
        if isinstance(before, (int, torch.SymInt)) and isinstance(after, (int, torch.SymInt)):
            return self._holds(_expression(before), "==", _expression(after), conditions)
        return False

    def _is_same_tensor(
        self, before: torch.Tensor, after: torch.Tensor, conditions: list[Condition]
    ) -> bool:
        """Whether the calls that lead from one to the other keep it for these sizes."""
        if type(before) is not QuickTensor or type(after) is not QuickTensor:
            return False
        recorder = self._recorder
        first: Any = before.made_by
        node: Any = after.made_by
        if node.graph is recorder.graph:  # of a branch, whose graph has its own node for it
            first = recorder.graph_argument(before)
        while node is not first:
            if node.op != "call_function" or not self._keeps(node, conditions):
                return False
            recorder.may_share_memory(node)
            node = node.args[0]
        return True

    def _keeps(self, node: Any, conditions: list[Condition]) -> bool:
        if node.target in _COPIES:
            return True
        if node.target in _PADS:
            return all(self._is_zero(each, conditions) for each in node.args[1])
        if node.target is not _SLICE:
            return False
        arguments = (*node.args, *_SLICE_DEFAULTS[len(node.args) :])
        source, axis, start, end, step = arguments
        size = source.meta["val"].shape[axis]
        if not _is_number(end) or type(step) is not int or step != 1:
            return False
        return (start is None or self._is_zero(start, conditions)) and (
            end is None or self._holds(_expression(end), ">=", _expression(size), conditions)
        )

    def _is_zero(self, amount: Any, conditions: list[Condition]) -> bool:
        return _is_number(amount) and self._holds(_expression(amount), "==", 0, conditions)

    def _holds(self, one: Any, sign: str, other: Any, conditions: list[Condition]) -> bool:
        import sympy

        kind = sympy.Eq if sign == "==" else sympy.Ge
        relation = kind(sympy.sympify(one), sympy.sympify(other))
        if relation in (sympy.true, sympy.false):
            return bool(relation)
        # Most hold whatever else is known of sizes, which every branch then has the answer of.
        answers = self._samples.answers
        return any(answers(each, relation) == {True} for each in (conditions[-1:], conditions))


def _untraced(frame: FrameType, event: str, argument: Any) -> None:
    """Has Python call the trace functions of frames that have one."""


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, torch.SymInt))


def _expression(size: int | torch.SymInt) -> Any:
    return size.node.expr if isinstance(size, torch.SymInt) else size
