"""From a module to an ExportedProgram, by the first strategy of torch.export that succeeds."""

from __future__ import annotations

import enum
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from sardonyx._base.errors import CaptureError, Diagnostic, OnnxExporterError
from sardonyx._base.state import ends_at_data, follows_size_branches, raise_interrupt
from sardonyx._torch_private import export as torch_export
from sardonyx._torch_private import questions as torch_questions
from sardonyx._torch_private import sizes as torch_sizes

from .context import capturing
from .failure import failure
from .guards.assertions import DroppedAssertions
from .guards.guards import SizeGuards
from .guards.specializations import Specializations
from .meta_tracer.fallback import DeclinedError
from .patches.restoration import module_kept_on_error, tensors_unmarked
from .patches.symbolic_bools import bools_decided, function_wanting_bools
from .shapes.clamped_slices import clamped_slices
from .shapes.dim_names import constant_dims, equal_dims
from .shapes.dim_spec import Leaf
from .shapes.dynamic_shapes import DynamicShapes
from .shapes.example_sizes import check_example
from .shapes.kept_axes import SqueezedAxisError, check_squeezes, kept_axes, symbols_of_ones
from .shapes.ranges import bounded_dims, is_least_raised
from .shapes.short_slices import has_short_results, short_chunks, short_slices
from .shapes.small_results import small_results
from .source_location import Place, user_place
from .strategies.strategies import Attempt, FixedSizeError, first_line, is_interpreted, strategies
from .torchscript.scripted import check_numbers, is_scripted

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from .patches.iteration import Iterations
    from .torchscript.program import ScriptProgram


class FakeTracing(enum.Enum):
    """Whether fake-tensor tracing is tried before torch.export, alone, or not at all."""

    NO = "nothing"
    FIRST = "try, before torch.export"
    ALONE = "capture, or say why not"


@dataclass(frozen=True)
class Captured:
    """The program, what is wanted of its inputs' leaves, what is worth knowing of how it was
    captured, and what was tried."""

    # A QuickProgram or a ScriptProgram stands for one where nothing asks for more than they have.
    program: ExportedProgram
    leaves: tuple[Leaf, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    # Of an ExportedProgram, the conditions on sizes that torch.export recorded.
    guards: tuple[str, ...] = ()


def capture(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic: DynamicShapes,
    *,
    report: Callable[[str], None],
    may_trace: bool = False,
    by_sizes: bool = False,
    quick: FakeTracing = FakeTracing.NO,
) -> Captured:
    """Captures `model` on the example inputs.

    Tries these strategies in order, each where it may help:

    - torch.export without TorchDynamo;
    - the same with sizes of 0 and 1 kept dynamic;
    - the same with the dimensions that torch.export itself suggests or finds constant;
    - torch.jit.trace with `by_sizes`, where control flow depends on data-dependent sizes only, not
      on elements of tensors;
    - torch.export below autograd, where a model's own derivatives are operators;
    - torch.export with TorchDynamo;
    - torch.jit.trace with `may_trace`;
    - draft export.

    `report` receives the result of each. Raises CaptureError with the errors of all strategies, or
    with the dimensions that must be dynamic and that the model specializes.

    `quick` may have fake-tensor tracing run first. It falls back to torch.export where it is not
    sure of a result.
    """
    attempts: list[Attempt] = []
    args, kwargs = distinct_tensors((args, kwargs))

    def by_trace() -> Captured | None:
        return _sizes_kept_by_trace(model, args, kwargs, dynamic, report, doubles=may_trace)

    if quick is not FakeTracing.NO:
        try:
            made, notes = _quick(model, args, kwargs, dynamic, report)
            if may_trace and kept_axes(made) and (kept := by_trace()):
                return kept
            return Captured(made, dynamic.leaves, (*notes, *equal_dims(made, dynamic.leaves)))
        except DeclinedError as reason:
            if quick is FakeTracing.ALONE:
                raise _declined(model, reason) from reason
            report(f"fake-tensor tracing declines: {reason}")
            cause = reason.__cause__
            if ends_at_data() and isinstance(cause, Exception) and _is_of_data(cause):
                attempts.append(Attempt("fake-tensor tracing", 0, cause))
                raise failure(
                    model, args, kwargs, attempts, Specializations(), report=report
                ) from cause
    places: dict[str, Place] = {}
    specializations, guards, assertions = Specializations(), SizeGuards(), DroppedAssertions()
    spare: Captured | None = None  # where no capture holds for sizes of 1 as well

    with (
        capturing(model, kwargs),
        torch_sizes.sizes_from_zero() if dynamic.may_be_empty else nullcontext(),
        torch_questions.watching_sizes(lambda sizes: _keep_place(places, sizes)),
    ):
        for strategy in strategies(
            model,
            args,
            kwargs,
            dynamic,
            attempts=attempts,
            specializations=specializations,
            may_trace=may_trace,
            by_sizes=by_sizes,
        ):
            start = time.perf_counter()
            specializations.python.clear()
            specializations.elements.clear()
            try:
                with (
                    guards.heard(),
                    assertions.passed(),
                    tensors_unmarked((args, kwargs)),
                    module_kept_on_error(model),
                ):
                    program: Any = strategy.run()
                notes = [*specializations.notes(), *assertions.notes()]
                is_kept = False
                if not _is_script(program):
                    check_squeezes(program, dynamic.leaves)
                    check_example(program, (args, kwargs), dynamic.leaves, guards.equations())
                    is_kept = bool(kept_axes(program))
                    check_numbers(_whole(program), model, specializations)
                    notes += _notes_of_sizes(program, dynamic, places, guards)
            except Exception as error:
                raise_interrupt(error)
                attempts.append(Attempt(strategy.name, time.perf_counter() - start, error))
                report(f"capture by {strategy.name} failed: {first_line(error)}")
                if may_trace and isinstance(error, FixedSizeError) and (kept := by_trace()):
                    return kept
                if spare is not None:
                    return spare
                continue
            seconds = time.perf_counter() - start
            attempts.append(Attempt(strategy.name, seconds, None))
            report(f"captured by {strategy.name} in {seconds:.2f} s")
            fixed = [note for note in notes if note.code == "SX1008" or _asked_by_script(note)]
            tries = may_trace or (by_sizes and all(map(is_scripted, fixed)))
            if ((fixed and tries) or (is_kept and may_trace)) and (kept := by_trace()):
                return kept
            short = [] if _is_script(program) else _short_slices(program, dynamic)
            named = _named_leaves(program, dynamic)
            notes += short + (equal_dims(program, named) if named else [])
            captured = Captured(program, named, tuple(notes), tuple(attempts))
            if not short:
                return captured
            if spare is not None:
                return spare
            spare = captured
            report("slices of sizes that may be 1: captured again, with those kept dynamic")
    if spare is not None:
        return spare
    if is_interpreted(model):
        attempts.append(Attempt("PyTorch's converter of TorchScript", 0, model.reason))
    raise failure(model, args, kwargs, attempts, specializations, report=report)


def capture_by_trace(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic: DynamicShapes,
    report: Callable[[str], None],
    *,
    doubles: bool = False,
) -> Captured:
    """Captures what torch.jit.trace sees of `model` on the example inputs. `doubles`: the model's
    inputs have the older exporter's types.

    CaptureError where tracing fails; ProgramError of what the trace holds and ONNX cannot say.
    """
    from .torchscript.program import Example
    from .trace.tracing import program_of_trace

    args, kwargs = distinct_tensors((args, kwargs))
    example = Example(args, kwargs, dynamic.leaves, doubles)
    specializations = Specializations()

    def by_torch() -> ExportedProgram:
        program: Any = capture(model, args, kwargs, dynamic, report=report, may_trace=True).program
        if _is_script(program):  # the trace again, which would ask for this
            raise failure(model, args, kwargs, [], specializations, report=report)
        exported: ExportedProgram = program
        return exported

    with capturing(model, kwargs):
        try:
            program: Any = program_of_trace(model, example, specializations, by_torch)
        except OnnxExporterError:
            raise
        except Exception as error:
            raise_interrupt(error)
            attempts = [Attempt("torch.jit.trace", 0, error)]
            raise failure(model, args, kwargs, attempts, specializations, report=report) from error
    return Captured(program, notes=tuple(specializations.notes()))


def _sizes_kept_by_trace(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic: DynamicShapes,
    report: Callable[[str], None],
    *,
    doubles: bool,
) -> Captured | None:
    """A scripted loop over a size stays one where it is traced; None where Python looped."""
    try:
        captured = capture_by_trace(model, args, kwargs, dynamic, report, doubles=doubles)
    except OnnxExporterError as error:
        report(f"torch.jit.trace does not keep the sizes: {first_line(error)}")
        return None
    return None if captured.notes else captured


def _quick(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic: DynamicShapes,
    report: Callable[[str], None],
) -> tuple[ExportedProgram, list[Diagnostic]]:
    """What the export reads of a program, and what is worth knowing of it. DeclinedError, also of
    what a release of PyTorch that nobody has tried may raise."""
    from .meta_tracer.entry.trust import distrust

    if reason := distrust():
        raise DeclinedError(f"it does not fit this PyTorch: {reason}")
    quickly = partial(_quickly, model, args, kwargs, dynamic, report)
    try:
        try:
            return quickly(shapes=dynamic.shapes, leaves=dynamic.leaves)
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
                shapes, leaves = dynamic.above_one, dynamic.leaves_above_one((args, kwargs))
            else:
                raise
        return quickly(shapes=shapes, leaves=leaves)
    except (DeclinedError, OnnxExporterError):
        raise
    except Exception as error:
        raise_interrupt(error)
        raise DeclinedError(first_line(error)) from error


def _is_of_sizes(cause: BaseException | None) -> bool:
    """Whether a capture ended on sizes that don't fit, rather than on a data-dependent question."""
    is_error = isinstance(cause, (RuntimeError, ValueError, IndexError))
    return is_error and not _is_of_data(cause)


def _short_slices(program: ExportedProgram, dynamic: DynamicShapes) -> list[Diagnostic]:
    """A warning of each slice, of sizes of 1 where these and sizes of 0 differ."""
    notes = (note for size in (0, 1) for note in short_slices(program, dynamic.leaves, size))
    return list({note.node: note for note in notes}.values())


def _is_of_data(cause: BaseException | None) -> bool:
    """Whether a capture ended on a question of data."""
    return "DataDependent" in type(cause).__name__


class _NoSizeLoopsError(DeclinedError):
    """No loop of the model's code goes through a dynamic size."""


class _ShortSliceError(DeclinedError):
    """A slice has another length where a size is 1."""


def _quickly(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic: DynamicShapes,
    report: Callable[[str], None],
    *,
    shapes: Any,
    leaves: Sequence[Leaf],
) -> tuple[ExportedProgram, list[Diagnostic]]:
    """Once as torch.export would capture it. Where the model's own code decides by sizes, or
    computes real numbers of them, once more with both branches and with these numbers in the
    program, which is taken where that succeeds. `shapes`: the dynamic shapes, as torch.export takes
    them, declared or relaxed; `leaves`: what is wanted of the dimensions in them."""
    from .meta_tracer.control_flow.if_conversion import ConvertibleIfError
    from .patches.iteration import Iterations

    start, guards = time.perf_counter(), SizeGuards(keeps_conditions=True)
    iterations = Iterations()
    deciding: list[str] = []  # functions of PyTorch's that take no truth of sizes

    def attempt(
        *, size_branches: bool, stops_at_ifs: bool = False, size_loops: bool = False
    ) -> tuple[ExportedProgram, list[Diagnostic]]:
        once = partial(
            _quick_attempt,
            model,
            args,
            kwargs,
            dynamic,
            report,
            shapes=shapes,
            leaves=leaves,
            guards=guards,
            iterations=iterations,
            deciding=deciding,
            size_branches=size_branches,
            stops_at_ifs=stops_at_ifs,
            size_loops=size_loops,
        )
        try:
            return once()
        except DeclinedError as error:
            function = function_wanting_bools(error.__cause__)
            if function is None or function in deciding:
                raise
            report(f"what {function}() asks of sizes is decided: {error}")
            deciding.append(function)
            return once()

    is_tried = False  # with both branches
    failure: DeclinedError | None = None
    notes: list[Diagnostic] = []
    program: Any = None
    try:
        try:
            program, notes = attempt(size_branches=False, stops_at_ifs=follows_size_branches())
        except ConvertibleIfError:
            is_tried = True
            try:
                program, notes = attempt(size_branches=True)
            except DeclinedError as error:
                report(f"branches on sizes are not in the model: {error}")
                program, notes = attempt(size_branches=False)
    except DeclinedError as error:
        failure = error
    # Where nothing better is found, as it is, with what is warned of: torch.export asks the same.
    is_doubtful = failure is None and bool(program.doubt)
    if is_doubtful:
        failure = DeclinedError(program.doubt)
    is_spare = is_doubtful and any(map(_is_warned_of, notes))
    # A table that has no more rows bounds a size for good.
    has_slices = any(note.op.startswith("aten::slice") for note in notes)
    is_decided = failure is not None or (
        any(map(_is_warned_of, notes))
        and (guards.by_model or is_least_raised(program, dynamic.leaves) or has_slices)
    )
    is_asked = (guards.by_model or guards.are_any) and not guards.relate_many
    is_asked |= has_slices or isinstance(failure, _ShortSliceError)
    if is_decided and is_asked and not is_tried and follows_size_branches():
        try:
            other, other_notes = attempt(size_branches=True)
        except DeclinedError as error:
            report(f"branches on sizes are not in the model: {error}")
        else:
            failure, program, notes = None, other, other_notes
    if iterations.are_any and _may_be_of_a_loop(failure, notes):
        for size_branches in (False, True)[: 1 + follows_size_branches()]:
            try:
                other, other_notes = attempt(size_branches=size_branches, size_loops=True)
            except _NoSizeLoopsError:
                break
            except DeclinedError as error:
                report(f"loops over sizes are not in the model: {error}")
                continue
            if failure is not None or not any(map(_is_warned_of, other_notes)):
                failure, program, notes = None, other, other_notes
            if not any(map(_is_warned_of, notes)):
                break
    if failure is not None and not is_spare:
        raise failure
    report(f"captured by fake-tensor tracing in {time.perf_counter() - start:.2f} s")
    return program, notes


def _quick_attempt(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic: DynamicShapes,
    report: Callable[[str], None],
    *,
    shapes: Any,
    leaves: Sequence[Leaf],
    guards: SizeGuards,
    iterations: Iterations,
    deciding: Sequence[str],
    size_branches: bool,
    stops_at_ifs: bool,
    size_loops: bool,
) -> tuple[ExportedProgram, list[Diagnostic]]:
    from .meta_tracer.entry.capture import quick_capture
    from .patches.number_ranges import ranges_of_sizes
    from .patches.numpy_functions import numpy_of_sizes
    from .patches.size_loops import loops_as_functions
    from .patches.symbolic_int_calls import sizes_are_ints
    from .patches.symbolic_math import real_sizes

    def by_torch() -> ExportedProgram:
        usual = capture(model, args, kwargs, dynamic, report=report)
        program.told_by_torch = [note for note in usual.notes if note not in notes]
        return usual.program

    assertions = DroppedAssertions()
    places: dict[str, Place] = {}
    real = real_sizes(model, guards.codes) if size_branches else nullcontext()
    with capturing(model, kwargs), ExitStack() as patches:
        for function in deciding:
            patches.enter_context(bools_decided(function))
        if size_loops and not patches.enter_context(loops_as_functions(model)):
            raise _NoSizeLoopsError("no loops that may go through a size")
        watching = torch_questions.watching_sizes(lambda sizes: _keep_place(places, sizes))
        unmarked = tensors_unmarked((args, kwargs))
        heard = guards.heard(are_bounds_asked=True)
        ranges = ranges_of_sizes(model)
        noticed = iterations.noticed()
        patches.enter_context(numpy_of_sizes(model))
        patches.enter_context(sizes_are_ints(model))
        with heard, assertions.passed(), watching, ranges, real, unmarked, noticed:
            program: Any = quick_capture(
                model,
                args,
                kwargs,
                shapes,
                by_torch,
                leaves=leaves,
                size_branches=size_branches,
                stops_at_ifs=stops_at_ifs,
            )
    if size_loops and not program.has_size_loops:
        raise _NoSizeLoopsError("no loop goes through a size")
    try:
        check_example(program, (args, kwargs), dynamic.leaves, guards.equations())
        ones = symbols_of_ones(program, (args, kwargs), dynamic.leaves)
        check_squeezes(program, dynamic.leaves, ones)
        notes = _notes_of_sizes(program, dynamic, places, guards)
        notes += short_chunks(program, dynamic.leaves)
    except FixedSizeError as error:
        raise DeclinedError(first_line(error)) from error
    if short_slices(program, dynamic.leaves, 1):
        raise _ShortSliceError("a slice of a size that may be 1")
    if has_short_results(program, dynamic.leaves):
        raise DeclinedError("an operator whose result is shorter where a size is 0 or 1")
    if not size_branches:  # with them, slices have the length of each size
        notes += short_slices(program, dynamic.leaves, 0)
    if any(map(_asked_by_script, notes)):
        raise DeclinedError("a scripted function asks for a size, which its own branches can keep")
    return program, [*notes, *assertions.notes(), *program.notes]


# As a place ends that is in a loop's first line.
_LOOP = re.compile(r", in [^:]+: (?:async )?for ")
# The codes of diagnostics that report a program specialized to some values of dynamic dimensions.
_SPECIALIZED = ("SX1008", "SX1012", "SX1015")


def _is_warned_of(note: Diagnostic) -> bool:
    return note.code in _SPECIALIZED and note.severity != "note"


def _may_be_of_a_loop(failure: DeclinedError | None, notes: Sequence[Diagnostic]) -> bool:
    """Whether a loop of Python may go through a dynamic size: where a capture fails, or warns of a
    line that begins a loop."""
    warnings = (note.message for note in notes if _is_warned_of(note))
    return failure is not None or any(map(_LOOP.search, warnings))


def _asked_by_script(note: Diagnostic) -> bool:
    """Whether a scripted function's question about a size was answered for all sizes: traced, it
    stays a branch."""
    return note.code == "SX1015" and is_scripted(note)


def _declined(model: torch.nn.Module, reason: DeclinedError) -> CaptureError:
    text = f"fake-tensor tracing declines {type(model).__name__}: {reason}"
    help_text = "leave out capture='quick', so that torch.export captures it"
    diagnostic = Diagnostic("SX1003", text, help=help_text)
    return CaptureError(f"{text}\nhelp: {help_text}", [diagnostic])


def _named_leaves(program: Any, dynamic: DynamicShapes) -> tuple[Leaf, ...]:
    """Those whose symbols are to get names: TorchScript's reader has given them already."""
    return () if _is_script(program) else dynamic.leaves


def _is_script(program: Any) -> TypeGuard[ScriptProgram]:
    from .torchscript.program import ScriptProgram  # needs torch, which is not there for files

    return isinstance(program, ScriptProgram)


def _keep_place(places: dict[str, Place], sizes: list[str]) -> None:
    """Notes the line that runs as the one that makes these sizes constant; the first one counts."""
    new = [size for size in sizes if size not in places]
    if new and (place := user_place()) is not None:
        places.update(dict.fromkeys(new, place))


def _notes_of_sizes(
    program: ExportedProgram,
    dynamic: DynamicShapes,
    places: Mapping[str, Place],
    guards: SizeGuards,
) -> list[Diagnostic]:
    """Of those that are constant or bounded, and of what was asked of them. FixedSizeError for
    those that must vary."""
    constant = [each.diagnostic() for each in constant_dims(program, dynamic.leaves, places)]
    bounded = bounded_dims(program, dynamic.leaves, guards)
    asked = guards.notes(program, dynamic.leaves)
    # Of scripted functions, tracing keeps the branches.
    asked = [replace(n, severity="warning") if _asked_by_script(n) else n for n in asked]
    found = [*constant, *bounded, *asked]
    if not any(map(_is_warned_of, found)):
        from .shapes.unsure_copies import unsure_copies  # needs torch, which is not there for files

        found += unsure_copies(program, dynamic.leaves)
    if follows_size_branches():
        found += clamped_slices(program, dynamic.leaves)
        if not any(map(_is_warned_of, found)):  # such results would only be its consequence
            found += small_results(program, dynamic.leaves)
    if refused := [each for each in found if each.severity == "error"]:
        raise FixedSizeError(refused)
    return found


def _whole(program: ExportedProgram) -> ExportedProgram:
    from .quantized import holds_quantized_tensors

    if torch_export.lacks_derivatives(program):
        raise RuntimeError("the captured program lacks derivatives that the model takes")
    if holds_quantized_tensors(program):
        raise RuntimeError("torch.export takes quantized tensors for tensors of float32")
    return program


def distinct_tensors(inputs: Any) -> Any:
    """A tensor that stands in several places is copied for the later ones: torch.export would take
    all of them for one input, and compute with the first alone."""
    import torch

    from sardonyx._torch_private import pytree

    seen: set[int] = set()

    def apart(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if id(leaf) in seen:
            return leaf.detach().clone().requires_grad_(leaf.requires_grad)
        seen.add(id(leaf))
        return leaf

    return pytree.tree_map(apart, inputs)
