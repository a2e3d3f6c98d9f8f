"""Fake-tensor tracing, tried in the ways that may keep more of a model's dynamic sizes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sardonyx._base.errors import Diagnostic, OnnxExporterError
from sardonyx._base.state import follows_size_branches, raise_interrupt
from sardonyx._capture.context import capturing
from sardonyx._capture.guards.assertions import DroppedAssertions
from sardonyx._capture.guards.guards import SizeGuards
from sardonyx._capture.meta_tracer.fallback import DeclinedError, TooManyQuestionsError
from sardonyx._capture.patches.restoration import tensors_unmarked
from sardonyx._capture.patches.symbolic_bools import bools_decided, function_wanting_bools
from sardonyx._capture.request import CaptureRequest
from sardonyx._capture.shapes.dim_spec import Leaf
from sardonyx._capture.shapes.example_sizes import check_example
from sardonyx._capture.shapes.kept_axes import SqueezedAxisError, check_squeezes, symbols_of_ones
from sardonyx._capture.shapes.ranges import is_least_raised
from sardonyx._capture.shapes.short_slices import has_short_results, short_chunks, short_slices
from sardonyx._capture.size_notes import (
    SizePlaces,
    is_asked_by_script,
    is_warned_of,
    notes_of_sizes,
)
from sardonyx._capture.source_location import place_of_error
from sardonyx._torch_private import export as torch_export
from sardonyx._torch_private import questions as torch_questions

from .strategies import FixedSizeError, first_line

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from sardonyx._capture.patches.iteration import Iterations

    # Captures with torch.export: the program, and what is worth knowing of it.
    ByTorch = Callable[[], tuple[ExportedProgram, Sequence[Diagnostic]]]

# As a place ends that is in a loop's first line.
_LOOP = re.compile(r", in [^:]+: (?:async )?for ")


class Traced(NamedTuple):
    """A program, and what is worth knowing of it."""

    program: Any
    notes: list[Diagnostic]

    @property
    def is_warned_of(self) -> bool:
        """Whether it is specialized, with a warning."""
        return any(map(is_warned_of, self.notes))


def traced_on_fakes(
    request: CaptureRequest, by_torch: ByTorch
) -> tuple[ExportedProgram, list[Diagnostic]]:
    """What the export reads of a program, and what is worth knowing of it. DeclinedError, also of
    what a release of PyTorch that nobody has tried may raise."""
    from sardonyx._capture.meta_tracer.entry.trust import distrust

    if reason := distrust():
        raise DeclinedError(f"it does not fit this PyTorch: {reason}")
    dynamic, report = request.dynamic, request.report
    try:
        try:
            return _Attempts(request, by_torch, dynamic.shapes, dynamic.leaves).best()
        except DeclinedError as error:
            if torch_export.is_constraint_violation(error.__cause__):
                # A convolution without padding takes no images below its kernel's size, say.
                report(f"captured again within the bounds of the model: {error}")
                shapes, leaves = dynamic.relaxed, dynamic.leaves
            elif isinstance(error.__cause__, SqueezedAxisError) and error.__cause__.dims:
                report(f"captured again with the dimensions behind it as in the example: {error}")
                shapes, leaves = dynamic.without(error.__cause__.dims), dynamic.leaves
            elif dynamic.above_one is not None and _is_of_sizes(error.__cause__):
                # The model broadcasts a dimension of 1, say. torch.export makes it constant.
                report(f"captured again with dimensions of 1 as in the example: {error}")
                shapes, leaves = dynamic.above_one, dynamic.leaves_above_one(request.inputs)
            else:
                raise
        return _Attempts(request, by_torch, shapes, leaves).best()
    except (DeclinedError, OnnxExporterError):
        raise
    except Exception as error:
        raise_interrupt(error)
        raise DeclinedError(first_line(error)) from error


def is_of_data(cause: BaseException | None) -> bool:
    """Whether a capture ended on a question of data."""
    return "DataDependent" in type(cause).__name__


def _is_of_sizes(cause: BaseException | None) -> bool:
    """Whether a capture ended on sizes that don't fit, rather than on a data-dependent question."""
    is_error = isinstance(cause, (RuntimeError, ValueError, IndexError))
    return is_error and not is_of_data(cause)


def _end_alike(one: DeclinedError, other: DeclinedError) -> bool:
    """Whether the same line of the model ended two attempts by errors of one kind."""
    causes = one.__cause__, other.__cause__
    if causes[0] is None or causes[1] is None or type(causes[0]) is not type(causes[1]):
        return False
    places = [place_of_error(each) for each in causes if each is not None]
    return places[0] is not None and places[0] == places[1]


class _NoSizeLoopsError(DeclinedError):
    """No loop of the model's code goes through a dynamic size."""


class _ShortSliceError(DeclinedError):
    """A slice has another length where a size is 1."""


def _new_iterations() -> Iterations:
    from sardonyx._capture.patches.iteration import Iterations

    return Iterations()


@dataclass
class _Attempts:
    """The attempts of one capture. Each uses what earlier ones have found out.

    Attributes:
        shapes: the dynamic shapes, as torch.export takes them, declared or relaxed
        leaves: what is wanted of the dimensions in them
        deciding: functions of PyTorch's that take no truth of sizes
        traced: the best program
        failure: why it is not good enough, or why there is none
        asks_too_much: whether following branches on sizes came to no end
    """

    request: CaptureRequest
    by_torch: ByTorch
    shapes: Any
    leaves: Sequence[Leaf]
    guards: SizeGuards = field(default_factory=lambda: SizeGuards(keeps_conditions=True))
    iterations: Iterations = field(default_factory=_new_iterations)
    deciding: list[str] = field(default_factory=list)
    traced: Traced | None = None
    failure: DeclinedError | None = None
    asks_too_much: bool = False

    def best(self) -> Traced:
        """Once as torch.export would capture it. Where the model's own code decides by sizes, or
        computes real numbers of them, once more with both branches and with these numbers in the
        program, which is taken where that succeeds; and so for its loops over sizes."""
        start = time.perf_counter()
        has_tried_branches = self._try_usual()
        # Where nothing better is found, as it is, with what is warned of: torch.export asks the
        # same.
        is_spare = False
        if self.traced is not None and self.failure is None and self.traced.program.doubt:
            self.failure = DeclinedError(self.traced.program.doubt)
            is_spare = self.traced.is_warned_of
        if not has_tried_branches and follows_size_branches() and self._may_keep_branches():
            self._try_branches()
        if self.iterations.are_any and self._may_keep_loops():
            self._try_loops()
        if self.traced is None or (self.failure is not None and not is_spare):
            raise self.failure or DeclinedError("nothing was captured")
        seconds = time.perf_counter() - start
        self.request.report(f"captured by fake-tensor tracing in {seconds:.2f} s")
        return self.traced

    def _take(self, traced: Traced) -> None:
        self.traced, self.failure = traced, None

    def _try_usual(self) -> bool:
        """Returns whether branches on sizes were tried."""
        from sardonyx._capture.meta_tracer.control_flow.if_conversion import ConvertibleIfError

        has_tried_branches = False
        try:
            try:
                self._take(self._attempt(stops_at_ifs=follows_size_branches()))
            except ConvertibleIfError:
                has_tried_branches = True
                if not self._try_branches():
                    self._take(self._attempt())
        except DeclinedError as error:
            self.failure = error
        return has_tried_branches

    def _may_keep_branches(self) -> bool:
        """Whether the model asks its own code's questions of sizes, and what came of it needs to be
        better."""
        guards, notes = self.guards, [] if self.traced is None else self.traced.notes
        # A table that has no more rows bounds a size for good.
        has_slices = any(note.op.startswith("aten::slice") for note in notes)
        if self.failure is None and self.traced is not None:
            program, leaves = self.traced.program, self.request.dynamic.leaves
            is_bound = guards.by_model or has_slices or is_least_raised(program, leaves)
            if not (self.traced.is_warned_of and is_bound):
                return False
        is_asked = (guards.by_model or guards.are_any) and not guards.relate_many
        return is_asked or has_slices or isinstance(self.failure, _ShortSliceError)

    def _try_branches(self) -> bool:
        try:
            self._take(self._attempt(size_branches=True))
        except DeclinedError as error:
            self.asks_too_much = isinstance(error, TooManyQuestionsError)
            self.request.report(f"branches on sizes are not in the model: {error}")
            return False
        return True

    def _may_keep_loops(self) -> bool:
        """Whether a loop of Python may go through a dynamic size: where a capture fails, or warns
        of a line that begins a loop."""
        notes = [] if self.traced is None else self.traced.notes
        warnings = (note.message for note in notes if is_warned_of(note))
        return self.failure is not None or any(map(_LOOP.search, warnings))

    def _try_loops(self) -> None:
        may_branch = follows_size_branches() and not self.asks_too_much
        for size_branches in (False, True)[: 1 + may_branch]:
            try:
                traced = self._attempt(size_branches=size_branches, size_loops=True)
            except _NoSizeLoopsError:
                return
            except DeclinedError as error:
                self.request.report(f"loops over sizes are not in the model: {error}")
                if self.failure is not None and _end_alike(error, self.failure):
                    return  # no loop is before it
                continue
            if self.failure is not None or not traced.is_warned_of:
                self._take(traced)
            if self.traced is not None and not self.traced.is_warned_of:
                return

    def _attempt(
        self, *, size_branches: bool = False, stops_at_ifs: bool = False, size_loops: bool = False
    ) -> Traced:
        """Once more where a function of PyTorch's takes no truth of sizes, with that decided."""
        try:
            return self._once(size_branches, stops_at_ifs, size_loops)
        except DeclinedError as error:
            function = function_wanting_bools(error.__cause__)
            if function is None or function in self.deciding:
                raise
            self.request.report(f"what {function}() asks of sizes is decided: {error}")
            self.deciding.append(function)
            return self._once(size_branches, stops_at_ifs, size_loops)

    def _once(self, size_branches: bool, stops_at_ifs: bool, size_loops: bool) -> Traced:
        from sardonyx._capture.meta_tracer.entry.capture import quick_capture
        from sardonyx._capture.patches.number_ranges import ranges_of_sizes
        from sardonyx._capture.patches.numpy_functions import numpy_of_sizes
        from sardonyx._capture.patches.size_loops import loops_as_functions
        from sardonyx._capture.patches.symbolic_int_calls import sizes_are_ints
        from sardonyx._capture.patches.symbolic_math import real_sizes

        request, guards = self.request, self.guards
        model, dynamic = request.model, request.dynamic

        def by_torch() -> ExportedProgram:
            usual, usual_notes = self.by_torch()
            program.told_by_torch = [note for note in usual_notes if note not in notes]
            return usual

        assertions = DroppedAssertions()
        places = SizePlaces()
        real = real_sizes(model, guards.codes) if size_branches else nullcontext()
        with capturing(model, request.kwargs), ExitStack() as patches:
            for function in self.deciding:
                patches.enter_context(bools_decided(function))
            if size_loops and not patches.enter_context(loops_as_functions(model)):
                raise _NoSizeLoopsError("no loops that may go through a size")
            with (
                guards.heard(are_bounds_asked=True),
                assertions.passed(),
                torch_questions.watching_sizes(places.keep),
                ranges_of_sizes(model),
                numpy_of_sizes(model),
                sizes_are_ints(model),
                real,
                tensors_unmarked(request.inputs),
                self.iterations.noticed(),
            ):
                program: Any = quick_capture(
                    model,
                    request.args,
                    request.kwargs,
                    self.shapes,
                    by_torch,
                    leaves=self.leaves,
                    size_branches=size_branches,
                    stops_at_ifs=stops_at_ifs,
                )
        if size_loops and not program.has_size_loops:
            raise _NoSizeLoopsError("no loop goes through a size")
        try:
            check_example(program, request.inputs, dynamic.leaves, guards.equations())
            ones = symbols_of_ones(program, request.inputs, dynamic.leaves)
            check_squeezes(program, dynamic.leaves, ones)
            notes = notes_of_sizes(program, dynamic, places.of, guards)
            notes += short_chunks(program, dynamic.leaves)
        except FixedSizeError as error:
            raise DeclinedError(first_line(error)) from error
        if short_slices(program, dynamic.leaves, 1):
            raise _ShortSliceError("a slice of a size that may be 1")
        if has_short_results(program, dynamic.leaves):
            raise DeclinedError("an operator whose result is shorter where a size is 0 or 1")
        if not size_branches:  # with them, slices have the length of each size
            notes += short_slices(program, dynamic.leaves, 0)
        if any(map(is_asked_by_script, notes)):
            raise DeclinedError(
                "a scripted function asks for a size, which its own branches can keep"
            )
        return Traced(program, [*notes, *assertions.notes(), *program.notes])
