"""The captured program of whatever `export` is given."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sardonyx._base.collection import few_collections
from sardonyx._base.errors import (
    CaptureError,
    Diagnostic,
    OnnxExporterError,
    ProgramError,
    usage_error,
)
from sardonyx._capture.capture import Captured, capture, capture_by_trace
from sardonyx._capture.patches.dict_types import register_dict_types
from sardonyx._capture.shapes.dim_names import constant_dims
from sardonyx._capture.shapes.dynamic_axes import from_dynamic_axes
from sardonyx._capture.shapes.dynamic_shapes import DynamicShapes, prepare
from sardonyx._capture.strategies.number_inputs import has_numbers, numbers_as_tensors
from sardonyx._capture.strategies.observed_run import observed_run
from sardonyx._report.steps import Steps
from sardonyx._torch_private import export as torch_export
from sardonyx._torch_private.features import missed
from sardonyx._torch_private.shape_specs import dynamic_shapes_of, undeclared
from sardonyx._transformers_private.registration import register_caches

from .deprecated import ends_with_no_keywords, is_older_form
from .options import Options

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


def example_inputs(
    model: Any, args: Any, kwargs: Mapping[str, Any] | None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and keyword inputs of the example, in whichever form they were given."""
    if not isinstance(args, (tuple, list)):
        args = (args,)
    positional = tuple(args)
    if kwargs is None and positional and is_older_form(model, positional):
        return positional[:-1], dict(positional[-1])
    if kwargs is None and ends_with_no_keywords(model, positional):
        return positional[:-1], {}
    return positional, dict(kwargs or {})


@dataclass(frozen=True)
class _Request:
    """What is captured: a module's or script's example inputs, and how."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    options: Options
    steps: Steps

    def prepared(self, module: torch.nn.Module) -> DynamicShapes:
        """The dynamic dimensions of the inputs."""
        return prepare(module, self.args, self.kwargs, self._shapes(module))

    def _shapes(self, module: torch.nn.Module) -> Any:
        """`dynamic_shapes`, or the older form as that."""
        options = self.options
        if not options.dynamic_axes:
            return options.dynamic_shapes
        if options.dynamic_shapes is not None:
            raise usage_error("pass dynamic_shapes or dynamic_axes, not both")
        return from_dynamic_axes(
            module,
            self.args,
            self.kwargs,
            options.dynamic_axes,
            input_names=options.input_names or (),
            output_names=options.output_names or (),
            lenient=not options.dynamo,
        )


def captured_program(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    options: Options,
    steps: Steps,
) -> Captured:
    """Captures a model; of an ExportedProgram, says what its dimensions are called."""
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        _check_program(model, options)
        named = _named(model, args, kwargs, options.dynamic_shapes)
        return replace(named, guards=tuple(torch_export.guards_code(model)))
    request = _Request(args, kwargs, options, steps)
    constant: list[Diagnostic] = []
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        script = model
        captured = steps.timed("capture", lambda: _of_script(script, request))
        if captured is not None:
            return captured
        constant = _numbers_made_constant(script, args, kwargs)
    module = _as_module(model, request)
    register_dict_types((args, kwargs))
    shapes = dynamic_shapes_of(module, options.dynamic_shapes)
    with undeclared(module), few_collections(), torch_export.quiet_capture():
        made = _of_inputs(module, replace(request, options=replace(options, dynamic_shapes=shapes)))
    return replace(made, notes=(*made.notes, *constant))


def _of_inputs(module: torch.nn.Module, request: _Request) -> Captured:
    if not request.options.dynamo and has_numbers(request.args, request.kwargs):
        with_numbers = _with_numbers_as_inputs(module, request)
        if with_numbers is not None:
            return with_numbers
    return _of_module(module, request)


def _with_numbers_as_inputs(module: torch.nn.Module, request: _Request) -> Captured | None:
    """Numbers among the inputs as tensors, which is what the older exporter makes of them. None
    where the model is captured for numbers alone, which are constants then."""
    args, kwargs = numbers_as_tensors((request.args, request.kwargs))
    try:
        return _of_module(module, replace(request, args=args, kwargs=kwargs))
    except OnnxExporterError as error:
        request.steps.say(f"numbers among the inputs become constants: {error}")
        return None


def _of_module(module: torch.nn.Module, request: _Request) -> Captured:
    args, kwargs, options, steps = request.args, request.kwargs, request.options, request.steps
    dynamic = request.prepared(module)

    def by_trace() -> Captured:
        doubles = not options.dynamo
        return capture_by_trace(module, args, kwargs, dynamic, steps.say, doubles=doubles)

    # torch.export captures no quantized tensors; tracing runs on them.
    if options.is_trace or _has_quantized(args, kwargs):
        return steps.timed("capture", by_trace)

    def by_torch() -> Captured:
        return capture(
            module,
            args,
            kwargs,
            dynamic,
            report=steps.say,
            may_trace=not options.dynamo,
            by_sizes=options.dynamo and options.capture == "auto",
            quick=options.quick,
        )

    made: Captured
    try:
        made = steps.timed("capture", by_torch)
    except CaptureError:
        seen = observed_run(module, args, kwargs)
        if register_dict_types(seen.results):
            made = steps.timed("capture", by_torch)
        elif seen.packs_sequences or seen.gives_quantized:
            steps.say("torch.export does not capture packed sequences and quantized results")
            made = steps.timed("capture", by_trace)
        else:
            raise
    for feature in missed():
        steps.say(f"without {feature.name}, which this PyTorch does not allow: {feature.reason}")
    return made


def _has_quantized(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    from sardonyx._torch_private import pytree

    leaves = pytree.tree_leaves((args, kwargs))
    return any(getattr(leaf, "is_quantized", False) is True for leaf in leaves)


def _numbers_made_constant(
    script: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[Diagnostic]:
    """A warning for each number, which torch.export takes for a constant."""
    from sardonyx._capture.torchscript import modules

    given = modules.signature_of(script).bind(None, *args, **kwargs).arguments
    return [
        Diagnostic(
            "SX1008",
            f"input '{name}' may vary in TorchScript, whose reader declines this program, and is "
            f"the constant {value!r} in the model",
            severity="warning",
        )
        for name, value in given.items()
        if type(value) in (bool, int, float)
    ]


# What a program of TorchScript asks for that is not known here: torch.export may know it.
_UNKNOWN = frozenset({"SX1212", "SX1213"})


def _of_script(script: Any, request: _Request) -> Captured | None:
    """What the reader of TorchScript makes of it; None where it lacks an operator."""
    from sardonyx._capture.torchscript import modules
    from sardonyx._capture.torchscript.program import Example, Source, script_program

    args, kwargs, steps = request.args, request.kwargs, request.steps
    dynamic = request.prepared(modules.declared(script))

    def by_torch() -> ExportedProgram:
        module = modules.as_module(script, args, kwargs)
        shapes = request.prepared(module)
        return capture(module, args, kwargs, shapes, report=steps.say).program

    signature = modules.signature_of(script)
    try:
        program: Any = script_program(
            Source(script, script, by_torch),
            signature,
            Example(args, kwargs, dynamic.leaves, doubles=not request.options.dynamo),
        )
    except ProgramError as error:
        if not all(diagnostic.code in _UNKNOWN for diagnostic in error.diagnostics):
            raise
        reason: Exception = error
    except (RuntimeError, TypeError) as error:
        reason = error
    else:
        return Captured(program)
    steps.say(f"the reader of TorchScript declines: {reason}")
    return None


def _check_program(program: ExportedProgram, options: Options) -> None:
    if options.dynamic_axes:
        warnings.warn(
            "dynamic_axes does nothing for an ExportedProgram: its dimensions are what "
            "torch.export.export() made them",
            stacklevel=4,
        )
    if torch_export.lacks_derivatives(program):
        raise usage_error(
            "the ExportedProgram lacks derivatives that the model takes by torch.func",
            "pass the module itself, which is then captured below autograd",
        )


def _as_module(model: Any, request: _Request) -> torch.nn.Module:
    import torch

    from sardonyx._capture.strategies import callables
    from sardonyx._capture.torchscript import modules

    steps = request.steps
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        script, args, kwargs = model, request.args, request.kwargs
        model = steps.timed("TorchScript", lambda: modules.as_module(script, args, kwargs))
    register_caches(model)
    if steps.verbose and type(model).__module__.startswith("transformers."):
        from sardonyx._transformers_private.features import missing

        for feature in missing():
            steps.say(f"without {feature.name}: {feature.reason}")
    return callables.as_module(model)


def _named(
    program: ExportedProgram, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> Captured:
    if dynamic_shapes is None:
        return Captured(program)
    example = program.example_inputs
    if example is not None and not args and not kwargs:
        args, kwargs = example[0], dict(example[1])
    leaves = prepare(program.module(), args, kwargs, dynamic_shapes).leaves
    constant = [
        found.warning() for found in constant_dims(program, leaves, {}) if found.wanted.name
    ]
    return Captured(program, leaves, tuple(constant))
