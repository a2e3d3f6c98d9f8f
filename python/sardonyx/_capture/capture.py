"""From a module to an ExportedProgram, by the first strategy of torch.export that succeeds."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from sardonyx._base import torch_versions
from sardonyx._base.errors import CaptureError, Diagnostic

from .context import capturing
from .draft import draft
from .shapes import DynamicShapes

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from .interpreted import Interpreted


@dataclass(frozen=True)
class Attempt:
    """What one strategy came to: `error` is None for the one that succeeded."""

    strategy: str
    seconds: float
    error: Exception | None


@dataclass(frozen=True)
class Captured:
    """The program, and what was tried to get it."""

    program: ExportedProgram
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True)
class _Strategy:
    name: str
    run: Callable[[], ExportedProgram]


def capture(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic: DynamicShapes,
    *,
    report: Callable[[str], None],
    may_trace: bool = False,
) -> Captured:
    """Captures `model` on the example inputs.

    Tries torch.export without TorchDynamo, then with sizes of 0 and 1 kept dynamic, then with the
    dimensions that torch.export itself suggests or finds constant (dims_made_constant() tells),
    then below autograd, where a model's own derivatives are operators, then with TorchDynamo, then
    torch.jit.trace where `may_trace`, then draft export. `report` is told how each went. Raises
    CaptureError with what all of them said.
    """
    attempts: list[Attempt] = []
    args, kwargs = _told_apart((args, kwargs))
    with capturing():
        for strategy in _strategies(
            model, args, kwargs, dynamic, attempts=attempts, may_trace=may_trace
        ):
            start = time.perf_counter()
            try:
                program = _whole(strategy.run())
            except Exception as error:
                attempts.append(Attempt(strategy.name, time.perf_counter() - start, error))
                report(f"capture by {strategy.name} failed: {first_line(error)}")
                continue
            seconds = time.perf_counter() - start
            attempts.append(Attempt(strategy.name, seconds, None))
            report(f"captured by {strategy.name} in {seconds:.2f} s")
            return Captured(program, tuple(attempts))
    if _is_interpreted(model):
        attempts.append(Attempt("PyTorch's converter of TorchScript", 0, model.reason))
    raise _failure(model, attempts)


def _whole(program: ExportedProgram) -> ExportedProgram:
    from .quantized import holds_quantized_tensors

    if torch_versions.lacks_derivatives(program):
        raise RuntimeError("the captured program lacks derivatives that the model takes")
    if holds_quantized_tensors(program):
        raise RuntimeError("torch.export takes quantized tensors for tensors of float32")
    return program


def _is_interpreted(model: torch.nn.Module) -> TypeGuard[Interpreted]:
    from .interpreted import Interpreted

    return isinstance(model, Interpreted)


def _strategies(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic: DynamicShapes,
    *,
    attempts: list[Attempt],
    may_trace: bool,
) -> Iterator[_Strategy]:
    from .quantized import plain_integers, speaks_of_quantized_tensors

    around: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext

    def export(strict: bool, shapes: Any, source: Any = model) -> ExportedProgram:
        import torch

        with torch.no_grad(), around():
            return torch.export.export(
                source,
                args,
                kwargs=dict(kwargs),
                dynamic_shapes=shapes,
                strict=strict,
                **torch_versions.capture_options(),
            )

    def with_derivatives() -> ExportedProgram:
        return torch_versions.export_with_derivatives(model, args, kwargs, dynamic.shapes)

    def of_trace() -> ExportedProgram:
        from .tracing import traced

        return export(False, dynamic.shapes, traced(model, args, kwargs))

    def oblivious() -> ExportedProgram:
        with torch_versions.sizes_one_stay_dynamic():
            return export(False, dynamic.shapes)

    yield _Strategy("torch.export", lambda: export(False, dynamic.shapes))
    quantized = speaks_of_quantized_tensors(model, attempts[0].error)
    if quantized:
        around = partial(plain_integers, model)
        yield _Strategy(
            "torch.export with quantised tensors as integers", lambda: export(False, dynamic.shapes)
        )
    error = attempts[-1].error
    if dynamic.any_dynamic:
        yield _Strategy("torch.export with sizes of 0 and 1 kept dynamic", oblivious)
        refined = torch_versions.refined_shapes(error, dynamic.shapes)
        if refined is not None:
            yield _Strategy(
                "torch.export with the dimensions it suggests", lambda: export(False, refined)
            )
        if _is_about_dimensions(error):
            yield _Strategy(
                "torch.export with the dimensions it finds constant made constant",
                lambda: export(False, dynamic.relaxed),
            )
    if quantized or _is_interpreted(model):
        return  # the others know neither quantised tensors nor TorchScript's branches on data
    yield _Strategy("torch.export below autograd", with_derivatives)
    yield _Strategy("torch.export with TorchDynamo", lambda: export(True, dynamic.shapes))
    if may_trace:
        yield _Strategy("torch.jit.trace", of_trace)
    yield _Strategy(
        "draft export", lambda: draft(model, args, kwargs, dynamic.shapes, may_freeze=may_trace)
    )


def _told_apart(inputs: Any) -> Any:
    """A tensor that stands in several places is copied for the later ones: torch.export would take
    all of them for one input, and compute with the first alone."""
    import torch
    from torch.utils import _pytree as pytree

    seen: set[int] = set()

    def apart(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if id(leaf) in seen:
            return leaf.detach().clone().requires_grad_(leaf.requires_grad)
        seen.add(id(leaf))
        return leaf

    return pytree.tree_map(apart, inputs)


def _is_about_dimensions(error: Exception | None) -> bool:
    said = str(error)
    return "Constraints violated" in said or "inferred ranges" in said or "specialized" in said


def first_line(error: BaseException) -> str:
    """The type and the first line that says something of an error's message."""
    text = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text.strip()}" if text else type(error).__name__


def _failure(model: torch.nn.Module, attempts: list[Attempt]) -> CaptureError:
    said = "\n\n".join(f"{a.strategy}:\n{type(a.error).__name__}: {a.error}" for a in attempts)
    help_text = (
        "make the model exportable by torch.export.export, or pass the ExportedProgram you get; "
        "the first error above is mostly the telling one"
    )
    diagnostics = [
        Diagnostic(
            "SX1003",
            f"{a.strategy} could not capture {type(model).__name__}: {first_line(a.error)}",
            help=help_text,
        )
        for a in attempts
        if a.error is not None
    ]
    error = CaptureError(
        f"torch.export could not capture {type(model).__name__}.\n\n{said}\n\nhelp: {help_text}",
        diagnostics,
    )
    error.__cause__ = attempts[0].error
    return error
