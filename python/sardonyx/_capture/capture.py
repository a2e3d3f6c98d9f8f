"""From a module to an ExportedProgram, by the first strategy of torch.export that succeeds."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from sardonyx._base.errors import CaptureError, Diagnostic, OnnxExporterError
from sardonyx._base.state import ends_at_data, raise_interrupt
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
from .request import CaptureRequest
from .shapes.dim_names import equal_dims
from .shapes.dim_spec import Leaf
from .shapes.dynamic_shapes import DynamicShapes
from .shapes.example_sizes import check_example
from .shapes.kept_axes import check_squeezes, kept_axes
from .shapes.short_slices import short_slices
from .size_notes import SizePlaces, is_asked_by_script, notes_of_sizes
from .strategies.fake_tracing import is_of_data, traced_on_fakes
from .strategies.strategies import Attempt, FixedSizeError, first_line, is_interpreted, strategies
from .torchscript.scripted import check_numbers, is_scripted

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

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
    args, kwargs = distinct_tensors((args, kwargs))
    request = CaptureRequest(model, args, kwargs, dynamic, report)
    attempts: list[Attempt] = []
    if quick is not FakeTracing.NO:
        try:
            return _by_fake_tracing(request, may_trace=may_trace)
        except DeclinedError as reason:
            if quick is FakeTracing.ALONE:
                raise _declined(model, reason) from reason
            report(f"fake-tensor tracing declines: {reason}")
            cause = reason.__cause__
            if ends_at_data() and isinstance(cause, Exception) and is_of_data(cause):
                attempts.append(Attempt("fake-tensor tracing", 0, cause))
                raise failure(request, attempts, Specializations()) from cause
    return _by_torch(request, attempts, may_trace=may_trace, by_sizes=by_sizes)


def _by_fake_tracing(request: CaptureRequest, *, may_trace: bool) -> Captured:
    def by_torch() -> tuple[ExportedProgram, Sequence[Diagnostic]]:
        usual = _by_torch(request, [])
        return usual.program, usual.notes

    program, notes = traced_on_fakes(request, by_torch)
    if may_trace and kept_axes(program) and (kept := _sizes_kept_by_trace(request, doubles=True)):
        return kept
    leaves = request.dynamic.leaves
    return Captured(program, leaves, (*notes, *equal_dims(program, leaves)))


def _by_torch(
    request: CaptureRequest,
    attempts: list[Attempt],
    *,
    may_trace: bool = False,
    by_sizes: bool = False,
) -> Captured:
    """By the first strategy that succeeds; each becomes one of `attempts`."""
    model, dynamic, report = request.model, request.dynamic, request.report
    places, specializations, guards = SizePlaces(), Specializations(), SizeGuards()
    assertions = DroppedAssertions()
    spare: Captured | None = None  # where no capture holds for sizes of 1 as well

    def by_trace() -> Captured | None:
        return _sizes_kept_by_trace(request, doubles=may_trace)

    with (
        capturing(model, request.kwargs),
        torch_sizes.sizes_from_zero() if dynamic.may_be_empty else nullcontext(),
        torch_questions.watching_sizes(places.keep),
    ):
        for strategy in strategies(
            request,
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
                    tensors_unmarked(request.inputs),
                    module_kept_on_error(model),
                ):
                    program: Any = strategy.run()
                notes = [*specializations.notes(), *assertions.notes()]
                is_kept = False
                if not _is_script(program):
                    check_squeezes(program, dynamic.leaves)
                    check_example(program, request.inputs, dynamic.leaves, guards.equations())
                    is_kept = bool(kept_axes(program))
                    check_numbers(_whole(program), model, specializations)
                    notes += notes_of_sizes(program, dynamic, places.of, guards)
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
            fixed = [note for note in notes if note.code == "SX1008" or is_asked_by_script(note)]
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
    raise failure(request, attempts, specializations)


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
    args, kwargs = distinct_tensors((args, kwargs))
    return _by_trace(CaptureRequest(model, args, kwargs, dynamic, report), doubles=doubles)


def _by_trace(request: CaptureRequest, *, doubles: bool) -> Captured:
    from .torchscript.program import Example
    from .trace.tracing import program_of_trace

    example = Example(request.args, request.kwargs, request.dynamic.leaves, doubles)
    specializations = Specializations()

    def by_torch() -> ExportedProgram:
        program: Any = _by_torch(request, [], may_trace=True).program
        if _is_script(program):  # the trace again, which would ask for this
            raise failure(request, [], specializations)
        exported: ExportedProgram = program
        return exported

    with capturing(request.model, request.kwargs):
        try:
            program: Any = program_of_trace(request.model, example, specializations, by_torch)
        except OnnxExporterError:
            raise
        except Exception as error:
            raise_interrupt(error)
            attempts = [Attempt("torch.jit.trace", 0, error)]
            raise failure(request, attempts, specializations) from error
    return Captured(program, notes=tuple(specializations.notes()))


def _sizes_kept_by_trace(request: CaptureRequest, *, doubles: bool) -> Captured | None:
    """A scripted loop over a size stays one where it is traced; None where Python looped."""
    try:
        captured = _by_trace(request, doubles=doubles)
    except OnnxExporterError as error:
        request.report(f"torch.jit.trace does not keep the sizes: {first_line(error)}")
        return None
    return None if captured.notes else captured


def _short_slices(program: ExportedProgram, dynamic: DynamicShapes) -> list[Diagnostic]:
    """A warning of each slice, of sizes of 1 where these and sizes of 0 differ."""
    notes = (note for size in (0, 1) for note in short_slices(program, dynamic.leaves, size))
    return list({note.node: note for note in notes}.values())


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
