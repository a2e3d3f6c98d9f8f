"""The error of a model that no strategy captures: one cause, the line of the model, what to do."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import CaptureError, Diagnostic, OnnxExporterError, usage_error
from sardonyx._torch_private import fake_tensors, pytree
from sardonyx._torch_private.features import missed

from .guards.specializations import Specializations, SpecializedBranchError
from .request import CaptureRequest
from .source_location import Place, place_of_error
from .strategies.observed_run import observed_run
from .strategies.strategies import Attempt, FixedSizeError, first_line, holds_script
from .torchscript.scripted import readings_of

if TYPE_CHECKING:
    import torch

_HELP = "make the model exportable by torch.export.export, or pass the ExportedProgram you get"
_EAGER_HELP = "call the model with these inputs, and export it with inputs that it takes"
_SIZES_HELP = "make fewer dimensions dynamic, or compute the sizes in fewer steps"
_DATA_HELP = (
    "write it with torch.cond, torch.while_loop or torch.where; capture='trace' keeps the "
    "example's branches for all inputs, and warns of each"
)


def failure(
    request: CaptureRequest, attempts: list[Attempt], specializations: Specializations
) -> OnnxExporterError:
    """The error to raise after `attempts`. The request's `report` gets all that each strategy
    reported.

    A UsageError where the arguments do not fit forward().
    """
    model, args, kwargs = request.model, request.args, request.kwargs
    fixed = [a.error for a in attempts if isinstance(a.error, FixedSizeError)]
    # What asks of a size is nearer to the cause than the number that a strategy tried in its place.
    fixed.sort(key=lambda error: any(each.code == "SX1011" for each in error.diagnostics))
    if refusals := fixed[0].diagnostics if fixed else specializations.refusals():
        text = "\n".join(f"error[{d.code}]: {d.message}\n  help: {d.help}" for d in refusals)
        return CaptureError(text, refusals)
    if wrong := _wrong_arguments(model, args, kwargs):
        return wrong
    for each in attempts:
        request.report(f"{each.strategy} reported:\n{type(each.error).__name__}: {each.error}")
    if own := _error_of_model(model, args, kwargs):
        return own
    by_data = any(_is_by_data(each.error) for each in attempts)
    diagnostics = _diagnostics(model, attempts, by_data)
    if by_data:
        diagnostics += Specializations(scripted=readings_of(model).decided).refusals()
    error = CaptureError(_text(diagnostics, attempts), diagnostics)
    error.__cause__ = attempts[0].error if attempts else None
    return error


@contextmanager
def library_errors_as_diagnostics(model: object) -> Iterator[None]:
    """Within it, a failed assertion of PyTorch or sympy and a recursion error raise a CaptureError
    with the line of the model. A capture that fails so is followed by the next strategy's; this is
    for what is done with the captured program."""
    try:
        yield
    except (AssertionError, RecursionError) as error:
        if not (isinstance(error, RecursionError) or _is_raised_by_libraries(error)):
            raise
        what = "computes sizes by expressions that are nested too deeply for PyTorch"
        if isinstance(error, AssertionError):
            what = f"computes sizes for which an assertion of PyTorch fails ({first_line(error)})"
        place = place_of_error(error)
        text = f"{type(model).__name__} {what}" + (f", at {place}" if place else "")
        diagnostic = Diagnostic("SX1003", text, help=_SIZES_HELP, **_fields(place))
        message = f"error[SX1003]: {text}\n  help: {_SIZES_HELP}"
        raise CaptureError(message, [diagnostic]) from error


def _is_raised_by_libraries(error: BaseException) -> bool:
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    name = str(frames[-1].f_globals.get("__name__", "")) if frames else ""
    return name.partition(".")[0] in {"torch", "sympy"}


def _wrong_arguments(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> OnnxExporterError | None:
    try:
        signature = inspect.signature(model.forward)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        names = [
            name
            for name, each in signature.parameters.items()
            if each.default is each.empty
            and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
        ]
        example = "".join(f"{name}, " for name in names).rstrip()
        return usage_error(
            f"the example inputs do not fit {type(model).__name__}.forward{signature}: {error}",
            f"pass one value for each parameter: sardonyx.export(model, ({example}))",
        )
    return None


def _error_of_model(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> CaptureError | None:
    """Where the model raises in eager mode too: inputs of another shape, say. An operator without
    a kernel is no mistake: it may have a translator."""
    values = pytree.tree_leaves((args, dict(kwargs), *model.parameters(), *model.buffers()))
    if any(isinstance(each, fake_tensors.FakeTensor) for each in values):
        return None
    error = observed_run(model, args, kwargs).error
    if error is None or isinstance(error, NotImplementedError):
        return None
    place = place_of_error(error)
    text = f"{type(model).__name__} raises on the example inputs without an export too: "
    text += first_line(error) + (f", at {place}" if place else "")
    diagnostic = Diagnostic("SX1003", text, help=_EAGER_HELP, **_fields(place))
    found = CaptureError(f"error[SX1003]: {text}\n  help: {_EAGER_HELP}", [diagnostic])
    found.__cause__ = error
    return found


def _diagnostics(
    model: torch.nn.Module, attempts: list[Attempt], by_data: bool
) -> list[Diagnostic]:
    """One for each cause that differs from those before it; the one to act on comes first: what
    Sardonyx itself rejects, then in the order of the attempts. A question about data, which names
    the model's line, comes before all that was tried in its place."""
    found: dict[str, Diagnostic] = {}
    is_cause = _is_by_data if by_data and not holds_script(model) else _is_ours
    for each in sorted(attempts, key=lambda each: not is_cause(each.error)):
        if each.error is None:
            continue
        cause, place = first_line(each.error), place_of_error(each.error)
        if cause in found:
            continue
        found[cause] = Diagnostic(
            "SX1003",
            f"{type(model).__name__} could not be captured by {each.strategy}: "
            + (f"{cause}, at {place}" if place else cause),
            help=_DATA_HELP if by_data else _HELP,
            **_fields(place),
        )
    if not found:
        text = f"{type(model).__name__} could not be captured"
        return [Diagnostic("SX1003", text, help=_HELP)]
    return list(found.values())


def _is_by_data(error: BaseException | None) -> bool:
    return "DataDependent" in type(error).__name__


def _is_ours(error: BaseException | None) -> bool:
    """Whether Sardonyx rejects the model, and not a capture that only guesses (draft export)."""
    ours = type(error).__module__.startswith("sardonyx.")
    return ours and not isinstance(error, SpecializedBranchError)


def _fields(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {}
    return {"file": place.file, "line": place.line, "function": place.function}


def _text(diagnostics: list[Diagnostic], attempts: list[Attempt]) -> str:
    first, others = diagnostics[0], diagnostics[1:]
    lines = [f"error[{first.code}]: {first.message}"]
    lines += [f"error[{d.code}]: {d.message}" for d in others if d.code != first.code]
    lines += [f"  help: {text}" for text in dict.fromkeys(d.help for d in diagnostics) if text]
    more = sum(d.code == first.code for d in others)
    if len(attempts) > 1:
        ended = "all ended in the same error" if not more else f"{more} ended in another error"
        lines.append(
            f"  note: {len(attempts)} strategies were tried, {ended}; verbose=True prints each"
        )
    lines += [f"  note: this PyTorch does not allow {f.name}: {f.reason}" for f in missed()]
    return "\n".join(lines)
