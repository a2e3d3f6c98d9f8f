"""The ways in which torch.export may capture a module, the best first."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.guards.specializations import Specializations, SpecializedBranchError
from sardonyx._capture.patches.conditions import plain_conditions
from sardonyx._capture.patches.symbolic_bools import bools_decided, function_wanting_bools
from sardonyx._capture.request import CaptureRequest
from sardonyx._capture.torchscript.scripted import check_numbers, readings_of
from sardonyx._torch_private import export as torch_export
from sardonyx._torch_private.fake_tensors import caches_disabled

from .draft import draft

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from sardonyx._capture.torchscript.interpreted import InterpretedModule
    from sardonyx._capture.torchscript.program import ScriptProgram


@dataclass(frozen=True)
class Attempt:
    """The outcome of one strategy: `error` is None for the one that succeeded."""

    strategy: str
    seconds: float
    error: Exception | None


@dataclass(frozen=True)
class Strategy:
    """One of them, which `run` tries."""

    name: str
    run: Callable[[], ExportedProgram | ScriptProgram]


class FixedSizeError(RuntimeError):
    """Dimensions that must vary are constant in the captured program."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(d.message for d in diagnostics))
        self.diagnostics = tuple(diagnostics)


def strategies(
    request: CaptureRequest,
    *,
    attempts: list[Attempt],
    specializations: Specializations,
    may_trace: bool,
    by_sizes: bool,
) -> Iterator[Strategy]:
    """The ways to capture a module, one after the other; `attempts` has how those before went."""
    from sardonyx._capture.quantized import plain_integers, speaks_of_quantized_tensors

    model, args, kwargs, dynamic = request.model, request.args, request.kwargs, request.dynamic
    around: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext

    def export(strict: bool, shapes: Any, source: Any = model) -> ExportedProgram:
        import torch

        conditions = plain_conditions() if strict else contextlib.nullcontext()
        caches = caches_disabled() if dynamic.any_dynamic else contextlib.nullcontext()
        inlining = torch_export.compiled_once_after_inlining()
        with torch.no_grad(), around(), conditions, caches, inlining:
            return torch.export.export(
                source,
                args,
                kwargs=dict(kwargs),
                dynamic_shapes=shapes,
                strict=strict,
                **torch_export.capture_options(),
            )

    def with_derivatives() -> ExportedProgram:
        return torch_export.export_with_derivatives(model, args, kwargs, dynamic.shapes)

    def of_trace() -> ScriptProgram:
        from sardonyx._capture.torchscript.program import Example
        from sardonyx._capture.trace.tracing import program_of_trace

        example = Example(args, kwargs, dynamic.leaves, doubles=may_trace)
        return program_of_trace(model, example, specializations, exported_trace)

    def of_trace_by_sizes() -> ScriptProgram:
        with warnings.catch_warnings():  # notes say the same
            warnings.simplefilter("ignore")
            program = of_trace()
        if places := dict.fromkeys(specializations.elements):
            raise RuntimeError(
                "data-dependent values, which tracing does not keep: " + "; ".join(map(str, places))
            )
        return program

    def exported_trace() -> ExportedProgram:
        from sardonyx._capture.trace.tracing import traced

        module = traced(model, args, kwargs, specializations)
        program = export(False, dynamic.shapes, module)
        check_numbers(program, module, specializations)
        return program

    def oblivious() -> ExportedProgram:
        with torch_export.sizes_one_stay_dynamic():
            return export(False, dynamic.shapes)

    yield Strategy("torch.export", lambda: export(False, dynamic.shapes))
    quantized = speaks_of_quantized_tensors(model, attempts[0].error)
    if quantized:
        around = partial(plain_integers, model)
        yield Strategy(
            "torch.export with quantized tensors as integers", lambda: export(False, dynamic.shapes)
        )
    if function := function_wanting_bools(attempts[-1].error):
        around = partial(bools_decided, function)
        yield Strategy(
            f"torch.export with what {function}() asks of sizes answered by the example",
            lambda: export(False, dynamic.shapes),
        )
    error = attempts[-1].error
    if dynamic.any_dynamic:
        yield Strategy("torch.export with sizes of 0 and 1 kept dynamic", oblivious)
        refined = torch_export.refined_shapes(error, dynamic.shapes)
        if refined is not None:
            yield Strategy(
                "torch.export with the dimensions it suggests", lambda: export(False, refined)
            )
        if _is_about_dimensions(error):
            yield Strategy(
                "torch.export with the dimensions specialized that it finds constant",
                lambda: export(False, dynamic.relaxed),
            )
    if any(isinstance(attempt.error, FixedSizeError) for attempt in attempts):
        return  # the others do not know better
    if quantized and (by_sizes or may_trace):
        # Recurrent layers, whose packed weights are read from TorchScript's archives.
        yield Strategy("torch.jit.trace, where sizes alone decide", of_trace_by_sizes)
    if quantized or is_interpreted(model) or readings_of(model).numbers:
        return  # the others know neither quantized tensors nor TorchScript's branches on data
    # What comes next may take minutes, to stop where the first one did.
    is_by_data = "DataDependent" in type(attempts[0].error).__name__
    if by_sizes and (is_by_data or holds_script(model)):
        yield Strategy("torch.jit.trace, where sizes alone decide", of_trace_by_sizes)
    yield Strategy("torch.export below autograd", with_derivatives)
    yield Strategy("torch.export with TorchDynamo", lambda: export(True, dynamic.shapes))
    if may_trace:
        yield Strategy("torch.jit.trace", of_trace)
        yield Strategy("torch.export of what torch.jit.trace saw", exported_trace)
    if any(isinstance(attempt.error, SpecializedBranchError) for attempt in attempts):
        return
    if is_by_data and not may_trace:
        return  # draft export would decide it by the example's data, which is rejected
    yield Strategy(
        "draft export",
        lambda: draft(
            model,
            args,
            kwargs,
            dynamic.shapes,
            specializations=specializations,
            may_freeze=may_trace,
        ),
    )


def _is_about_dimensions(error: Exception | None) -> bool:
    message = str(error)
    return (
        "Constraints violated" in message
        or "inferred ranges" in message
        or "specialized" in message
    )


def holds_script(model: torch.nn.Module) -> bool:
    """Whether modules in it are scripted."""
    import torch

    return any(isinstance(part, torch.jit.ScriptModule) for part in model.modules())


def is_interpreted(model: torch.nn.Module) -> TypeGuard[InterpretedModule]:
    """Whether TorchScript's interpreter runs in it."""
    from sardonyx._capture.torchscript.interpreted import InterpretedModule

    return isinstance(model, InterpretedModule)


def first_line(error: BaseException) -> str:
    """The type and the first line that says something of an error's message."""
    text = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text.strip()}" if text else type(error).__name__
