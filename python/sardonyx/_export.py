"""The export itself: capture, conversion, and what goes with it."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from . import _torch_versions
from ._autograd import add_kept, kept_functions
from ._caches import register_caches
from ._dynamic_shapes import (
    DynamicShapes,
    Names,
    dims_made_constant,
    from_dynamic_axes,
    prepare,
    symbol_names,
)
from ._errors import (
    ConversionError,
    Diagnostic,
    diagnostics_from_native,
    usage_error,
)
from ._logging import is_log_enabled
from ._modes import select_model_mode_for_export
from ._module_classes import class_names
from ._older import OlderOptions, is_older_form, warn_of_older_options
from ._profile import Profile
from ._program import ONNXProgram
from ._steps import Steps
from ._symbolic_functions import add_registered, change_above
from ._translators import Translators, conversion

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from ._capture import Captured
    from ._registry import OnnxRegistry


def export(
    model: torch.nn.Module | ExportedProgram | Callable[..., Any],
    args: tuple[Any, ...] | torch.Tensor = (),
    f: str | os.PathLike[str] | IO[bytes] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    export_params: bool = True,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    external_data: bool = True,
    dynamic_shapes: Any = None,
    dynamic_axes: Mapping[str, Any] | None = None,
    custom_translation_table: Mapping[Callable[..., Any], Any] | None = None,
    report: bool = False,
    optimize: bool = True,
    verify: bool = False,
    profile: bool = False,
    dump_exported_program: bool = False,
    artifacts_dir: str | os.PathLike[str] = ".",
    keep_initializers_as_inputs: bool = False,
    target_runtime: str = "onnxruntime",
    mutations_as_outputs: bool = True,
    assertions_as_outputs: bool = False,
    decompose: bool = True,
    training: Any = None,
    operator_export_type: Any = None,
    do_constant_folding: bool = True,
    custom_opsets: Mapping[str, int] | None = None,
    export_modules_as_functions: Any = False,
    autograd_inlining: bool = True,
    registry: OnnxRegistry | None = None,
    plugins: Sequence[str | os.PathLike[str]] = (),
) -> ONNXProgram:
    """Exports a PyTorch model to ONNX.

    Parameters:
        model: a torch.nn.Module, which torch.export captures on the example inputs, a function or
            bound method, a TorchScript module or function, or a torch.export.ExportedProgram, which
            is taken as it is.
        args: positional example inputs: a tuple, or one tensor. A last element that is a dict holds
            keyword arguments where `kwargs` is not given and forward() takes them.
        f: where to save the model; None saves nothing.
        kwargs: example inputs by keyword.
        export_params: False writes the model to `f` without its weights.
        verbose: print the model, and tell on standard error how each step goes.
        input_names, output_names: names for the first inputs and outputs of the model; the others
            are named after forward()'s parameters, and the captured values. Further input_names are
            for the weights, in the order of the state dict.
        opset_version: 13 to 26; when None, 20 or the oldest newer one that has what the program
            needs, which one of the result's `notes` tells.
        dynamo: of the older exporter: False lets torch.jit.trace capture what torch.export does
            not, with branches on data as the example takes them.
        external_data: when saving to `f`: True puts weights into a second file where the model
            exceeds 2 GB; False never does, and raises SaveError where it would have to.
        dynamic_shapes: as for torch.export.export(): by parameter or position, a dict from axis to
            torch.export.Dim, Dim.DYNAMIC, Dim.AUTO or a plain string. Names become the model's.
            For an ExportedProgram, only the names are used.
        dynamic_axes: the older form: input name to axes, as a list or a dict from axis to name.
        custom_translation_table: from operators (torch.ops.ns.op.overload, names, functions such as
            torch.sym_not) to what translates them: functions that call `sardonyx.op.*`, or
            onnxscript functions.
        report: write a Markdown report of the export to `artifacts_dir`.
        optimize: simplify the graph after translation.
        verify: run the model in ONNX Runtime on the example inputs and compare it with the program
            in eager PyTorch; VerificationError where they differ.
        profile: measure the export function by function, for the report, or without one for
            standard error, where the time of each step stands too.
        dump_exported_program: save the captured program to `artifacts_dir` as .pt2.
        artifacts_dir: folder of what `report` and `dump_exported_program` write.
        keep_initializers_as_inputs: list the weights as inputs of the model, too, in `f`.
        target_runtime: "onnxruntime" computes in another dtype where ONNX Runtime's CPU kernels
            lack one, multiplies real numbers by quantised weights without rounding them to 8 bits,
            and makes the second factor of products of uint8 and int8 unsigned, which x86 without
            VNNI needs; "standard" does none of it, and such models are smaller or quicker there.
        mutations_as_outputs: buffers and inputs that the model changes become further outputs;
            False drops what they become.
        assertions_as_outputs: what the program asserts of its data (torch._check,
            torch._assert_async) becomes further bool outputs `assertion_0`, ..., which should be
            true; the model's metadata has their messages. False drops them, as are always those
            inside branches and loops.
        decompose: operators without a translation are taken apart by PyTorch, those alone; the
            result's `notes` name them. False raises UnsupportedOperatorError instead.
        training: of the older exporter, as the next ones; a DeprecationWarning says what to write
            instead. TrainingMode.EVAL exports the model for inference, TRAINING for training,
            PRESERVE (and None) in the mode that it is in. It is in its own mode afterwards.
        operator_export_type: an OperatorExportTypes, what becomes of operators that have no
            translation.
        do_constant_folding: False leaves weights what the module has, under its names: nothing is
            computed of them beforehand (a batch norm is not folded into the convolution before
            it). Arithmetic of constants of the program itself is always done.
        custom_opsets: versions of the domains of custom operators; 1 for others.
        autograd_inlining: False keeps every torch.autograd.Function as one node.
        export_modules_as_functions: modules become model-local functions of the ONNX model, one
            for each class and configuration: True for all modules, or a set of module classes.
            Needs opset 15.
        registry: translators of operators of the user's own, as `custom_translation_table`.
        plugins: shared libraries with translators (include/sardonyx/plugin.h).

    Returns the ONNXProgram, saved or not.

    Raises UsageError for arguments that cannot be meant, CaptureError when no strategy of
    torch.export captures the model, ConversionError (UnsupportedOperatorError) with every reason
    when the program cannot be said in ONNX, SaveError, VerificationError; all of them are
    OnnxExporterErrors that carry `.diagnostics`.
    """
    steps = Steps(bool(verbose) or profile or is_log_enabled())
    warn_of_older_options(
        {
            "training": training,
            "operator_export_type": operator_export_type,
            "do_constant_folding": do_constant_folding,
            "custom_opsets": custom_opsets,
            "autograd_inlining": autograd_inlining,
            "dynamic_axes": dynamic_axes,
            "dynamo": dynamo,
        }
    )
    modules = class_names(export_modules_as_functions)
    older = OlderOptions.of(training, operator_export_type, custom_opsets, autograd_inlining)
    made: ONNXProgram | None = None
    program: ExportedProgram | None = None
    failure: Exception | None = None
    measured = Profile()
    try:
        with measured.measuring(profile):
            positional, keywords = _example(model, args, kwargs)
            with (
                select_model_mode_for_export(model, older.mode),
                kept_functions(every=older.keep_autograd_functions),
            ):
                program, names = _captured(
                    model,
                    positional,
                    keywords,
                    dynamic_shapes=dynamic_shapes,
                    dynamic_axes=dynamic_axes,
                    input_names=input_names or (),
                    output_names=output_names or (),
                    may_trace=not dynamo,
                    steps=steps,
                )
            if dump_exported_program:
                _dump(program, artifacts_dir)
            names_of_inputs, names_of_weights = _told_apart(program, input_names or ())
            made = convert(
                program,
                input_names=names_of_inputs,
                output_names=output_names,
                opset_version=opset_version,
                optimize=optimize,
                fold_weights=do_constant_folding,
                target_runtime=target_runtime,
                mutations_as_outputs=mutations_as_outputs,
                assertions_as_outputs=assertions_as_outputs,
                decompose=decompose,
                dim_names=symbol_names(program, names),
                custom_translation_table=custom_translation_table,
                modules_as_functions=modules,
                registry=registry,
                custom_opsets=older.domain_versions,
                fall_through=older.fall_through,
                plugins=plugins,
                on_step=steps.timed,
            )
            made._name_weights(names_of_weights)
            constant = dims_made_constant(program, names)
            made.notes += tuple(Diagnostic("SX1008", c, severity="warning") for c in constant)
            for note in made.notes:
                steps.say(note.message)
                if note.severity == "warning":
                    warnings.warn(note.message, UserWarning, stacklevel=2)
            if verbose:
                print(made)
            if f is not None:
                _save(
                    made,
                    f,
                    steps,
                    export_params=export_params,
                    keep_initializers_as_inputs=keep_initializers_as_inputs,
                    external_data=external_data,
                )
            if verify:
                _verify(made, positional, keywords, steps)
    except Exception as error:
        failure = error
        raise
    finally:
        if report:
            from ._report import write_report

            path = write_report(
                artifacts_dir,
                steps,
                program=made,
                captured=program,
                error=failure,
                profile=measured.text,
            )
            steps.say(f"report: {path}")
        elif measured.text:
            print(measured.text, file=sys.stderr)
    return made


def _told_apart(program: ExportedProgram, names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Names for the inputs, and those behind them for the weights: as parameters and buffers stand
    in the state dict, which is how the older exporter had them."""
    if isinstance(names, str):
        raise usage_error(f"input_names={names!r} is a string, not a list of names")
    user_inputs = [
        spec
        for spec in program.graph_signature.input_specs
        if spec.kind.name == "USER_INPUT" and type(spec.arg).__name__ != "ConstantArgument"
    ]
    count, weights = len(user_inputs), list(program.state_dict)
    if len(names) - count > len(weights):
        return list(names), {}  # too many, which the conversion tells
    return list(names[:count]), dict(zip(weights, names[count:], strict=False))


def _save(
    program: ONNXProgram,
    f: str | os.PathLike[str] | IO[bytes],
    steps: Steps,
    *,
    export_params: bool,
    keep_initializers_as_inputs: bool,
    external_data: bool,
) -> None:
    def save() -> None:
        program.save(
            f,
            include_initializers=export_params,
            keep_initializers_as_inputs=keep_initializers_as_inputs,
            external_data=None if external_data else False,
        )

    steps.timed("save", save)


def _verify(
    program: ONNXProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any], steps: Steps
) -> None:
    from ._verify import verify_example

    steps.timed("verify", lambda: verify_example(program, args, kwargs))


def convert(
    program: ExportedProgram | str | os.PathLike[str],
    *,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    optimize: bool = True,
    fold_weights: bool = True,
    target_runtime: str = "onnxruntime",
    mutations_as_outputs: bool = True,
    assertions_as_outputs: bool = False,
    dim_names: Mapping[str, str] | None = None,
    custom_translation_table: Mapping[Callable[..., Any], Any] | None = None,
    registry: OnnxRegistry | None = None,
    custom_opsets: Mapping[str, int] | None = None,
    plugins: Sequence[str | os.PathLike[str]] = (),
    fall_through: str = "no",
    decompose: bool = True,
    modules_as_functions: Sequence[str] | None = None,
    stop_after: str = "",
    on_step: Callable[[str, Callable[[], Any]], Any] | None = None,
) -> ONNXProgram:
    """Converts an ExportedProgram, or the path of a .pt2 file, which is read without torch.

    Parameters as for `export`; `dim_names` says what to call the program's symbols ("s77" to
    "batch"), `modules_as_functions` names the classes of modules that become model-local functions
    (an empty sequence stands for all), `custom_opsets` says which versions of other domains the
    model is to import, `fold_weights` whether weights may be replaced by what is computed of them,
    `fall_through` what becomes of operators without a translation ("no": an
    error, "as-is": aten::foo, "aten": org.pytorch.aten::ATen), `stop_after` ends the simplification
    after the pass of that name, and `on_step` is called with the name of each step and a function
    that does it.
    """
    from . import _native

    opset = _native.default_opset if opset_version is None else opset_version
    fits = isinstance(opset, int) and _native.oldest_opset <= opset <= _native.newest_opset
    if not fits:
        raise usage_error(
            f"opset_version={opset!r} is not between "
            f"{_native.oldest_opset} and {_native.newest_opset}"
        )
    if target_runtime not in ("onnxruntime", "standard"):
        raise usage_error(f"target_runtime={target_runtime!r} is not 'onnxruntime' or 'standard'")
    if fall_through not in ("no", "as-is", "aten"):
        raise usage_error(f"fall_through={fall_through!r} is not 'no', 'as-is' or 'aten'")
    translators = _translators(custom_translation_table, registry, opset)
    # Where it is open, the program may ask for a newer one, unless other translators of the user's
    # own are for that.
    is_open = opset_version is None and registry is None and not change_above(opset)
    target = None if is_open else opset
    step = on_step or _untimed
    captured_names: list[str] | None = None

    def translate(walked: _native.Program) -> _native.Model:
        nonlocal captured_names
        names = list(output_names or ())
        if captured_names is None:
            captured_names = walked.user_output_names(list(input_names or ()), names)
        else:  # decomposed: its own names for the outputs mean nothing to the user
            names = captured_names

        def run() -> _native.Model:
            with conversion():
                return _native.convert(
                    walked,
                    opset=target,
                    input_names=list(input_names or ()),
                    output_names=names,
                    optimize=optimize,
                    fold_weights=fold_weights,
                    standard_runtime=target_runtime == "standard",
                    mutations_as_outputs=mutations_as_outputs,
                    assertions_as_outputs=assertions_as_outputs,
                    stop_after=stop_after,
                    modules_as_functions=(
                        None if modules_as_functions is None else list(modules_as_functions)
                    ),
                    translators=translators.plain,
                    complex_translators=translators.complex,
                    domain_versions=dict(custom_opsets or {}),
                    plugins=[os.fspath(path) for path in plugins],
                    fall_through=fall_through,
                    on_notes=lambda told: kept.extend(diagnostics_from_native(told)),
                )

        kept.clear()  # of an attempt before this one
        model: _native.Model = step("convert", run)
        return model

    def walk(live: ExportedProgram) -> _native.Program:
        walked: _native.Program = step("walk", lambda: _native.walk(live, dict(dim_names or {})))
        return walked

    notes: list[Diagnostic] = []
    kept: list[Diagnostic] = []
    try:
        if isinstance(program, (str, os.PathLike)):
            path = os.fspath(program)
            model = translate(step("read", lambda: _native.read(path)))
            return ONNXProgram(model, None, kept)
        if decompose:
            from ._fallback import convert_or_decompose

            model, notes = convert_or_decompose(program, lambda live: translate(walk(live)))
        else:
            model = translate(walk(program))
    except ConversionError as error:
        if translators.errors:
            raise error from translators.errors[0]
        raise
    made = ONNXProgram(model, program, notes + kept)
    _compute_constants(made, program)
    return made


def _compute_constants(made: ONNXProgram, program: ExportedProgram) -> None:
    """Supplies what a fake program's own constants hold, which no checkpoint has."""
    if all(getattr(value, "fake_mode", None) is None for value in program.constants.values()):
        return
    from . import _native
    from ._fake_values import computed_constants

    used = set(_native.weight_names(made._model))
    values = computed_constants(program)
    made.apply_weights({name: value for name, value in values.items() if name in used})


def _translators(
    table: Mapping[Callable[..., Any], Any] | None, registry: OnnxRegistry | None, opset: int
) -> Translators:
    """The user's own, the nearest last: registered for all exports, of a registry, of the table."""
    translators = Translators()
    add_registered(translators, opset)
    add_kept(translators, opset)
    if registry is not None:
        registry.fill(translators)
    translators.add_table(table)
    return translators


def _untimed(_name: str, run: Callable[[], Any]) -> Any:
    return run()


def _example(
    model: Any, args: Any, kwargs: Mapping[str, Any] | None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not isinstance(args, (tuple, list)):
        args = (args,)
    positional = tuple(args)
    if kwargs is None and positional and is_older_form(model, positional):
        return positional[:-1], dict(positional[-1])
    return positional, dict(kwargs or {})


def _captured(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    dynamic_shapes: Any,
    dynamic_axes: Mapping[str, Any] | None,
    input_names: Sequence[str],
    output_names: Sequence[str],
    may_trace: bool,
    steps: Steps,
) -> tuple[ExportedProgram, Sequence[Names]]:
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        if dynamic_axes:
            warnings.warn(
                "dynamic_axes does nothing for an ExportedProgram: its dimensions are what "
                "torch.export.export() made them",
                stacklevel=3,
            )
        if _torch_versions.lacks_derivatives(model):
            raise usage_error(
                "the ExportedProgram lacks derivatives that the model takes by torch.func",
                "pass the module itself, which is then captured below autograd",
            )
        return model, _names_for(model, args, kwargs, dynamic_shapes)
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        from ._torchscript import as_module

        script = model
        model = steps.timed("TorchScript", lambda: as_module(script, args, kwargs))
    register_caches(model)
    from ._callable import as_module as as_callable_module

    model = as_callable_module(model)
    if dynamic_axes:
        if dynamic_shapes is not None:
            raise usage_error("pass dynamic_shapes or dynamic_axes, not both")
        dynamic_shapes = from_dynamic_axes(
            model, args, kwargs, dynamic_axes, input_names=input_names, output_names=output_names
        )
    from ._capture import capture

    dynamic = prepare(model, args, kwargs, dynamic_shapes)
    captured: Captured = steps.timed(
        "capture",
        lambda: capture(model, args, kwargs, dynamic, report=steps.say, may_trace=may_trace),
    )
    return captured.program, dynamic.names


def _names_for(
    program: ExportedProgram, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> Sequence[Names]:
    if dynamic_shapes is None:
        return ()
    example = program.example_inputs
    if example is not None and not args and not kwargs:
        args, kwargs = example[0], dict(example[1])
    dynamic: DynamicShapes = prepare(program.module(), args, kwargs, dynamic_shapes)
    return dynamic.names


def _dump(program: ExportedProgram, folder: str | os.PathLike[str]) -> None:
    import torch

    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
    torch.export.save(program, path / f"sardonyx_export_{stamp}.pt2")
