"""The captured program of whatever `export` is given."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic, ProgramError, usage_error
from sardonyx._capture.caches import register_caches
from sardonyx._capture.capture import Captured, capture, capture_by_trace
from sardonyx._capture.dim_names import constant_dims
from sardonyx._capture.dynamic_axes import from_dynamic_axes
from sardonyx._capture.shapes import prepare
from sardonyx._report.steps import Steps
from sardonyx._torch_private import export as torch_export
from sardonyx._torch_private.features import missed

from .deprecated import is_older_form
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
    return positional, dict(kwargs or {})


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
        return _named(model, args, kwargs, options.dynamic_shapes)
    _refuse_quantized(args, kwargs)
    constant: list[Diagnostic] = []
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        script = model
        captured = steps.timed("capture", lambda: _of_script(script, args, kwargs, options, steps))
        if captured is not None:
            return captured
        constant = _numbers_made_constant(script, args, kwargs)
    module = _as_module(model, args, kwargs, steps)
    dynamic = prepare(module, args, kwargs, _shapes(module, args, kwargs, options))
    if options.is_trace:
        return steps.timed(
            "capture", lambda: capture_by_trace(module, args, kwargs, dynamic, steps.say)
        )
    made: Captured = steps.timed(
        "capture",
        lambda: capture(
            module,
            args,
            kwargs,
            dynamic,
            report=steps.say,
            may_trace=not options.dynamo,
            by_sizes=options.dynamo and options.capture == "auto",
            quick=options.quick,
        ),
    )
    for feature in missed():
        steps.say(f"without {feature.name}, which this PyTorch does not allow: {feature.reason}")
    return replace(made, notes=(*made.notes, *constant))


def _refuse_quantized(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    from sardonyx._torch_private import pytree

    places = [
        name + pytree.keystr(path)
        for name, tree in (("args", args), ("kwargs", kwargs))
        for path, leaf in pytree.tree_flatten_with_path(tree)[0]
        if getattr(leaf, "is_quantized", False)
    ]
    if places:
        raise usage_error(
            f"quantised tensors among the inputs, which ONNX does not have: {', '.join(places)}",
            "let the model take float32 and quantise it (torch.quantize_per_tensor), or take the "
            "integers of int_repr()",
        )


def _numbers_made_constant(
    script: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[Diagnostic]:
    """A warning for each number, which torch.export takes for a constant."""
    from sardonyx._capture import torchscript

    given = torchscript.signature_of(script).bind(None, *args, **kwargs).arguments
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


def _of_script(
    script: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    options: Options,
    steps: Steps,
) -> Captured | None:
    """What the reader of TorchScript makes of it; None where it lacks an operator."""
    from sardonyx._capture import torchscript
    from sardonyx._capture.script.program import Example, Source, script_program

    declared = torchscript.declared(script)
    dynamic = prepare(declared, args, kwargs, _shapes(declared, args, kwargs, options))

    def by_torch() -> ExportedProgram:
        module = torchscript.as_module(script, args, kwargs)
        shapes = prepare(module, args, kwargs, _shapes(module, args, kwargs, options))
        return capture(module, args, kwargs, shapes, report=steps.say).program

    signature = torchscript.signature_of(script)
    try:
        program: Any = script_program(
            Source(script, script, by_torch), signature, Example(args, kwargs, dynamic.leaves)
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


def _as_module(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], steps: Steps
) -> torch.nn.Module:
    import torch

    from sardonyx._capture import callables, torchscript

    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        script = model
        model = steps.timed("TorchScript", lambda: torchscript.as_module(script, args, kwargs))
    register_caches(model)
    return callables.as_module(model)


def _shapes(
    module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], options: Options
) -> Any:
    """`dynamic_shapes`, or the older form as that."""
    if not options.dynamic_axes:
        return options.dynamic_shapes
    if options.dynamic_shapes is not None:
        raise usage_error("pass dynamic_shapes or dynamic_axes, not both")
    return from_dynamic_axes(
        module,
        args,
        kwargs,
        options.dynamic_axes,
        input_names=options.input_names or (),
        output_names=options.output_names or (),
    )


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
