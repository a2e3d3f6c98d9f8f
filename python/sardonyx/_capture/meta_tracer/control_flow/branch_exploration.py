"""Both branches of Python code that depends on data or sizes, such as `if mask.any():`.

The model runs once for each answer. Its calls before the question are recorded in the first of
these runs only. Its calls after the question, to the model's end, are the body of a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.guards.assertions import asking_of_data, note_of_check
from sardonyx._capture.guards.guards import note_of_branch
from sardonyx._capture.meta_tracer.control_flow.size_branches import (
    ImpossibleWayError,
    SizeBranches,
)
from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.isolation.side_effects import kept, output_suppressed
from sardonyx._capture.meta_tracer.symbolic.relations import denied
from sardonyx._capture.meta_tracer.symbolic.size_samples import Condition, SizeSamples
from sardonyx._capture.meta_tracer.tracer.tracer import Recorder
from sardonyx._capture.source_location import Place, is_raised_by_model, user_place
from sardonyx._torch_private import questions as torch_questions
from sardonyx._torch_private import sizes as torch_sizes

from .data_questions import ConditionTensors
from .higher_order_ops import TracedBody, branched
from .if_conversion import IfConversion
from .scopes import Scope

# Runs of a model: each question doubles what may follow it.
_MAX_RUNS = 16

# The leaves and the structure of what a run gives.
Given = tuple[list[Any], Any]


@dataclass
class _Fork:
    """A question of data or sizes, and the ways behind it."""

    relation: Any  # of numbers, or the node of a tensor whose truth was asked for
    opposite: Any
    truth: torch.fx.Node  # of the relation
    place: Place | None
    calls: int  # before it
    nodes: int
    known: torch_sizes.DataFacts | None  # None where no size is dynamic
    of_sizes: bool  # of the inputs, not of data
    answer: bool = True
    first: TracedBody | None = None
    decided: list[_Fork] = field(default_factory=list)  # of what is asked in this way
    scope: Scope = field(init=False)
    closing: ExitStack = field(default_factory=ExitStack)


class BranchExplorer:
    """Captures a program once for each outcome of its branches; joins the runs by torch.cond."""

    def __init__(
        self,
        recorder: Recorder,
        env: Any,
        samples: SizeSamples | None = None,
        unconverted: set[tuple[str, int]] | None = None,
    ) -> None:
        """Of branches on data, and on sizes where there are samples of these. `unconverted` are
        statements whose bodies are not to run for all sizes."""
        self._recorder = recorder
        self._env = env
        self._conditions = ConditionTensors(recorder, env)
        self._forks: list[_Fork] = []  # that are being followed, the first question first
        self._decided: list[_Fork] = []  # that have one way alone, whatever was asked before
        self._runs = 1
        self._base = recorder.scopes.outermost  # the graph whose end branches run to
        self._places: dict[Place, str] = {}  # of branches on data, or on sizes
        self.meets_loops = False  # whether a loop over a size was recorded
        self._checks: dict[Place, None] = {}  # of those that decide whether the model raises
        # What has to be so of sizes, since the model raises for most others, though not for all.
        self._left_out: dict[Place, Any] = {}
        self._sizes = (
            None
            if samples is None
            else SizeBranches(
                env,
                samples,
                self._path_of_sizes,
                self._parted_on_sizes,
                IfConversion(recorder, env, samples, set() if unconverted is None else unconverted),
            )
        )

        if self._sizes is not None:
            recorder.on_sizes_above_0 = self._sizes.assert_above_0

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Within it, what the model asks of data, and of sizes where these are followed, has both
        answers, one in each run."""
        with ExitStack() as stack:
            stack.enter_context(torch_questions.answering_of_data(self._answer))
            if self._sizes is not None:
                stack.enter_context(self._sizes.followed())
            yield

    @property
    def holds(self) -> Callable[[Any], bool] | None:
        """What tells whether a relation holds for all sizes that lead to where the run is; None
        where branches on sizes are not followed."""
        return None if self._sizes is None else self._sizes.holds

    @property
    def are_several(self) -> bool:
        """Whether the run is one of several."""
        return bool(self._forks)

    def given(self, run: Callable[[], Given]) -> Given:
        """What the model gives, which `run` runs."""
        put_back = kept()
        given = self._followed(run)
        while given is None or self._forks:
            if given is None:
                self._runs += 1
                put_back()
                with output_suppressed():
                    given = self._followed(run)
            else:
                given = self._joined(self._forks[-1], given)
        return given

    def given_in_body(self, run: Callable[[], Given]) -> Given:
        """What the innermost graph gives, the body of a loop, with the branches in it."""
        around = self._forks, self._decided, self._runs, self._base
        self._decided, self._forks, self._runs = [*self._path()], [], 1
        self._base = self._recorder.scopes.innermost
        try:
            return self.given(run)
        finally:
            self._forks, self._decided, self._runs, self._base = around
            self._begin_path()

    def _joined(self, fork: _Fork, given: Given) -> Given | None:
        """What either way gives; None where the second one is still to be run."""
        ran = self._closed(fork, given)
        if fork.first is None:
            fork.first, fork.answer = ran, False
            fork.decided.clear()
            self._begin_anew(fork)
            self._open(fork)
            return None
        self._forks.pop()
        self._begin_path()
        if fork.place is not None:
            self._places.setdefault(fork.place, "sizes" if fork.of_sizes else "data")
        known = fork.known.ranges.keys() if fork.known else frozenset[Any]()
        return branched(self._recorder, fork.truth, (fork.first, ran), known)

    def _followed(self, run: Callable[[], Given]) -> Given | None:
        """What a way gives; None of one that only raises, whose question has the other answer from
        now on: for data that lead there, PyTorch gives no answer that the program's could differ
        from."""
        try:
            return run()
        except ImpossibleWayError as error:
            if not self._forks:
                raise
            error.answered()
            is_declined = False
        except DeclinedError as error:
            if not self._may_leave_out(error):
                raise
            error.answered()
            is_declined = True
        except Exception as error:
            if not self._forks or not is_raised_by_model(error) or self._is_of_capture(error):
                raise
            is_declined = False
        fork = self._forks.pop()
        fork.closing.close()
        self._check(fork)
        fork.answer = not fork.answer
        (self._forks[-1].decided if self._forks else self._decided).append(fork)
        if fork.place is not None:
            is_generic = self._sizes is not None and self._sizes.is_generic
            if fork.of_sizes and (is_declined or is_generic):
                self._left_out.setdefault(
                    fork.place, fork.relation if fork.answer else fork.opposite
                )
            else:
                self._checks.setdefault(fork.place)
        self._begin_anew(fork)
        return None

    def _is_of_capture(self, error: Exception) -> bool:
        """Whether the model itself need not raise there, and it is the capture that does: behind a
        loop that may have no runs, a variable of its body is not set; and where sizes alone decide
        the way, and the example's do so, eager PyTorch goes on."""
        sizes = self._sizes
        if self.meets_loops and isinstance(error, NameError):
            return True
        return sizes is not None and all(
            each.of_sizes and sizes.is_of_example(each.relation, each.answer)
            for each in self._path()
        )

    def _may_leave_out(self, error: DeclinedError) -> bool:
        """Whether a way that is declined is one on several sizes that the example does not go: the
        program is right for the others, and a warning names the branch."""
        if not self._forks or self._sizes is None or type(error) is not DeclinedError:
            return False
        fork = self._forks[-1]
        return (
            fork.of_sizes
            and fork.place is not None
            and len(fork.relation.free_symbols) > 1
            and self._sizes.is_of_example(fork.relation, not fork.answer)
        )

    def _begin_anew(self, fork: _Fork) -> None:
        self._recorder.calls.begin_anew(fork.calls)
        self._begin_path(anew=True)

    def _begin_path(self, *, anew: bool = False) -> None:
        if self._sizes is not None:
            self._recorder.fake_kernels.forget()  # what operators gave behind another answer
            self._sizes.begin_path(anew=anew)

    def notes(self) -> list[Diagnostic]:
        """A note of each question."""
        checks = {**self._checks, **(self._sizes.checks if self._sizes else {})}
        branches = (self._note(*each) for each in self._places.items())
        left_out = (
            note_of_branch(place, torch_sizes.named_relation(self._env, relation))
            for place, relation in self._left_out.items()
        )
        return [*map(note_of_check, checks), *branches, *left_out]

    def _note(self, place: Place, deciding: str) -> Diagnostic:
        return Diagnostic(
            "SX1018",
            f"{deciding} decide which of two ways the model goes: {place}; both are in it, each "
            "with all that follows",
            severity="note",
            help="nothing; torch.cond has in its branches only what differs",
            file=place.file,
            line=place.line,
            function=place.function,
        )

    def _answer(self, node: Any) -> bool | None:
        """What a question of data is answered; None for one of which the program takes no two ways:
        an operator's, say, or in a body of control flow."""
        if asking_of_data() is None:
            return None
        asked = self._recorder.asked
        relation = node.expr if asked is None else getattr(asked, "made_by", None)
        if relation is None:  # of a weight
            return None
        if (answer := self._answered(relation)) is not None:
            return answer
        if self._runs + len(self._forks) >= _MAX_RUNS or not self._may_part():
            return None
        truth = self._conditions.node(relation) if asked is None else self._conditions.of(asked)
        return None if truth is None else self._parted(relation, truth)

    def _answered(self, relation: Any) -> bool | None:
        """What a relation that was asked before is where the run is; None of others."""
        for fork in self._path():
            if relation == fork.relation:
                return fork.answer
            if relation == fork.opposite:
                return not fork.answer
        return None

    def _path(self) -> Iterator[_Fork]:
        yield from self._decided
        for fork in self._forks:
            yield fork
            yield from fork.decided

    def _path_of_sizes(self) -> list[Condition]:
        return [Condition(each.relation, each.answer) for each in self._path() if each.of_sizes]

    def _parted_on_sizes(self, relation: Any) -> bool:
        if self._runs + len(self._forks) >= _MAX_RUNS:
            raise DeclinedError(f"branches on sizes lead to more than {_MAX_RUNS} ways")
        truth = self._conditions.node(relation) if self._may_part() else None
        if truth is None:
            raise DeclinedError(f"whether {relation} is no branch that the program can have")
        return self._parted(relation, truth, of_sizes=True)

    def _may_part(self) -> bool:
        recorder = self._recorder
        here = self._forks[-1].scope if self._forks else self._base
        is_in_region = torch.is_grad_enabled() or torch.is_autocast_enabled("cpu")
        return recorder.scopes.graph is here.graph and not (
            is_in_region or recorder.mapping.is_open
        )

    def _parted(self, relation: Any, truth: torch.fx.Node, *, of_sizes: bool = False) -> bool:
        graph = self._recorder.graph
        opposite = None if isinstance(relation, torch.fx.Node) else denied(relation)
        before = (self._recorder.calls.count, _calls_in(graph), self._known_of_data())
        fork = _Fork(relation, opposite, truth, user_place(), *before, of_sizes)
        self._forks.append(fork)
        self._begin_path()
        self._open(fork)
        return fork.answer

    def _open(self, fork: _Fork) -> None:
        fork.scope = fork.closing.enter_context(self._recorder.scopes.opened())

    def _closed(self, fork: _Fork, given: Given) -> TracedBody:
        leaves, spec = given
        ran = TracedBody(fork.scope, leaves, spec)
        ran.graph_values = [self._recorder.graph_argument(each) for each in leaves]
        fork.closing.close()
        self._check(fork)
        return ran

    def _check(self, fork: _Fork) -> None:
        """Declines what a run of one way has left to the other."""
        if _calls_in(fork.truth.graph) != fork.nodes:
            raise DeclinedError("what leads to a branch is not the same when it runs again")
        self._forget_facts_of(fork)

    def _forget_facts_of(self, fork: _Fork) -> None:
        """Leaves the facts of a way to that way. DeclinedError where it finds two numbers equal, by
        which the calls before it are described, too."""
        if fork.known is None or (now := self._known_of_data()) is None:
            return
        if not fork.known.are_equalities_of(now):
            raise DeclinedError("one way of a branch says of data what the other does not")
        fork.known.restore(self._env)

    def _known_of_data(self) -> torch_sizes.DataFacts | None:
        return None if self._env is None else torch_sizes.DataFacts.of(self._env)


def _calls_in(graph: torch.fx.Graph) -> int:
    return sum(node.op != "placeholder" for node in graph.nodes)
