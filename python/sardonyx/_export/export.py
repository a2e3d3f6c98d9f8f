"""The export: capture, conversion, and what goes with them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sardonyx._base.choices import CaptureStrategy, Runtime
from sardonyx._base.errors import OnnxExporterError, usage_error, warn
from sardonyx._base.log import is_log_enabled
from sardonyx._base.packages import torch_for
from sardonyx._base.state import one_capture_at_a_time
from sardonyx._capture.capture import Captured
from sardonyx._capture.failure import library_errors_as_diagnostics
from sardonyx._capture.patches.modes import notes_of_training, select_model_mode_for_export
from sardonyx._capture.shapes.dim_names import least_sizes, symbol_names
from sardonyx._model.program import ONNXProgram
from sardonyx._report.profile import Profile
from sardonyx._report.report import write_report
from sardonyx._report.steps import Steps
from sardonyx._translate.autograd import kept_functions

from .capture import captured_program, example_inputs
from .convert import converted
from .deprecated import warn_of_older_options
from .options import Options
from .own_inputs import with_own_inputs
from .verify import verify_example

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from sardonyx._translate.registry import OnnxRegistry


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
    target_runtime: Runtime = "onnxruntime",
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
    capture: CaptureStrategy = "auto",
    fixed: Mapping[str, int] | None = None,
    record_rules: bool = False,
) -> ONNXProgram:
    """Exports a PyTorch model to ONNX.

    Parameters:
        model: a torch.nn.Module, a function or bound method, a TorchScript module or function, or a
            torch.export.ExportedProgram. An ExportableModule brings its inputs, names and dynamic
            shapes.
        args: positional example inputs: a tuple, or one tensor. A last element that is a dict holds
            keyword arguments if `kwargs` is not given and forward() takes them.
        f: where to save the model; None saves nothing.
        kwargs: example inputs by keyword.
        export_params: False writes the model to `f` without its weights, which keep their names.
            With dynamo=False they are inputs.
        verbose: print the model, and report each step on standard error.
        input_names: names for the first inputs of the model; the others are named after the
            parameters of forward(). Further names are for the weights, in the order of the state
            dict.
        output_names: names for the first outputs of the model.
        opset_version: 13 to 28; None chooses 20, or the oldest newer one that the program needs,
            which a note reports.
        dynamo: False traces with torch.jit.trace what torch.export does not capture. Branches on
            data are specialized to the example.
        external_data: when saving to `f`: True writes external data if the model exceeds 2 GB;
            False never does, and raises SaveError instead.
        dynamic_shapes: as for torch.export.export(): by parameter or position, a dict from axis to
            torch.export.Dim, Dim.DYNAMIC, Dim.AUTO or a string. "auto" makes every dimension
            dynamic that the model does not specialize; `notes` has the others. For an
            ExportedProgram only the names are used.
        dynamic_axes: the legacy form: input name to axes, as a list or a dict from axis to name.
        custom_translation_table: from operators (torch.ops.ns.op.overload, names, functions such as
            torch.sym_not) to translators: functions that call `sardonyx.op.*`, or onnxscript
            functions.
        report: write a Markdown report of the export to `artifacts_dir`.
        optimize: optimize the graph after translation.
        verify: run the model in ONNX Runtime on the example inputs and compare it with eager
            PyTorch; VerificationError if they differ.
        profile: measure the export by function, for the report or standard error.
        dump_exported_program: save the captured program to `artifacts_dir` as .pt2.
        artifacts_dir: folder of what `report` and `dump_exported_program` write.
        keep_initializers_as_inputs: list the weights as inputs of the model, too, in `f`.
        target_runtime: where the model is to run: "onnxruntime" (standard operators),
            "onnxruntime-cpu" and "onnxruntime-cuda" (contrib operators, too), "onnxruntime-genai"
            (a decoder for that runtime), "openvino", "tensorrt", or "standard" (no workarounds).
            docs/targets.md lists the differences.
        mutations_as_outputs: buffers and inputs that the model mutates become further outputs;
            False drops them.
        assertions_as_outputs: assertions of the program on its data (torch._check,
            torch._assert_async) become further bool outputs `assertion_0`, ..., whose messages are
            in the metadata. False drops them; those inside branches and loops are always dropped.
        decompose: operators without a translation are decomposed by PyTorch, with a note. False
            raises UnsupportedOperatorError instead.
        training: legacy: TrainingMode.EVAL exports the model for inference, TRAINING for training,
            PRESERVE (and None) in its mode. The model is in its own mode afterwards.
        operator_export_type: legacy: an OperatorExportTypes, for unsupported operators.
        do_constant_folding: False keeps weights as the module has them, under their names: a batch
            norm is not folded into the convolution before it. Constants of the program are always
            folded.
        custom_opsets: versions of the domains of custom operators; 1 for others.
        autograd_inlining: False keeps every torch.autograd.Function as one node.
        export_modules_as_functions: modules become model-local functions, one for each class and
            configuration: True for all modules, or a set of module classes. Needs opset 15.
        registry: custom translators, as in `custom_translation_table`.
        plugins: shared libraries with translators (include/sardonyx/plugin.h).
        capture: "auto" traces with fake tensors, and falls back to torch.export for what that
            declines (the model's code runs once more then); `verbose` reports which it was and why.
            "quick" never falls back. "torch" uses torch.export. "trace" uses torch.jit.trace, which
            specializes branches and loops of Python, with a warning for each. TorchScript is read
            as it is, whatever this says.
        fixed: dynamic dimensions, by name, that are a number in the model: `{"batch": 1}`.
        record_rules: nodes have the names of the rules that made or changed them, as metadata
            `sardonyx.rules`, which the viewer shows.

    Returns:
        The ONNXProgram, saved or not.

    Raises:
        UsageError: an argument is invalid.
        CaptureError: no strategy could capture the model.
        ConversionError: the program has no ONNX form, with every reason; UnsupportedOperatorError
            for operators without a translation.
        SaveError: the file could not be written.
        VerificationError: the results differ.

        All of them are OnnxExporterErrors, which carry `.diagnostics`.
    """
    given = dict(locals())
    torch_for("exporting a model")
    given = with_own_inputs(given)
    options = Options(**{k: v for k, v in given.items() if k not in ("model", "args", "f")})
    steps = Steps(bool(verbose) or profile or is_log_enabled())
    warn_of_older_options(options)
    options.check()
    _check_destination(given["f"])
    made: ONNXProgram | None = None
    program: ExportedProgram | None = None
    failure: Exception | None = None
    measured = Profile()
    try:
        with measured.measuring(profile):
            positional, keywords = example_inputs(model, given["args"], options.kwargs)
            with (
                library_errors_as_diagnostics(model),
                one_capture_at_a_time(),
                select_model_mode_for_export(model, options.older.mode),
                kept_functions(every=options.older.keep_autograd_functions),
            ):
                captured = captured_program(model, positional, keywords, options, steps)
                if training is None:
                    captured = replace(captured, notes=(*captured.notes, *notes_of_training(model)))
            program = captured.program
            if dump_exported_program:
                _dump(_exported(program), artifacts_dir)
            with library_errors_as_diagnostics(model):
                made = _converted(captured, options, steps)
            # What torch.export alone says is of the dump, which it captured anew.
            for note in (*made.notes, *getattr(program, "told_by_torch", ())):
                steps.say(note.message)
                if note.severity == "warning":
                    warn(note, stacklevel=2)
            if verbose:
                print(made)
            if f is not None:
                _save(made, f, options, steps)
            if verify:
                with select_model_mode_for_export(model, options.older.mode):
                    _verify(made, captured, model, (positional, keywords), steps)
    except Exception as error:
        failure = error
        raise
    finally:
        if report:
            path = write_report(
                artifacts_dir,
                steps,
                program=made,
                captured=_for_report(program, failed=failure is not None),
                error=failure,
                profile=measured.text,
            )
            steps.say(f"report: {path}")
        elif measured.text:
            print(measured.text, file=sys.stderr)
    return made


def _converted(captured: Captured, options: Options, steps: Steps) -> ONNXProgram:
    """The model, with the names of its dimensions and weights, and the notes of all steps."""
    names_of_inputs, names_of_weights = _names_of_inputs_and_weights(
        captured.program, options.input_names or ()
    )
    dim_names = symbol_names(captured.program, captured.leaves) if captured.leaves else {}
    least = least_sizes(captured.program, captured.leaves) if captured.leaves else {}
    conversion = options.conversion(names_of_inputs, dim_names, steps.timed)
    made = converted(captured.program, conversion, least, captured.guards)
    made._name_weights(names_of_weights)
    made.notes += captured.notes
    return made


class _Varies:
    """Of an input that is a tensor or a symbolic number."""


_VARIES = _Varies()


def _names_of_inputs_and_weights(
    program: ExportedProgram, names: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Names for the inputs, and those behind them for the weights: as parameters and buffers stand
    in the state dict, which is how the older exporter had them."""
    if isinstance(names, str):
        raise usage_error(f"input_names={names!r} is a string, not a list of names")
    user_inputs = [
        getattr(spec.arg, "value", _VARIES)
        if type(spec.arg).__name__ == "ConstantArgument"
        else _VARIES
        for spec in program.graph_signature.input_specs
        if spec.kind.name == "USER_INPUT"
    ]
    # Numbers are inputs to the older exporter, and constants here: enough names are theirs, too.
    named = [value for value in user_inputs if isinstance(value, (int, float, _Varies))]
    if len(names) >= len(named):
        kept = [name for value, name in zip(named, names, strict=False) if value is _VARIES]
        names = [*kept, *names[len(named) :]]
    count, weights = user_inputs.count(_VARIES), list(program.state_dict)
    if len(names) - count > len(weights):
        return list(names), {}  # too many, which the conversion reports
    return list(names[:count]), dict(zip(weights, names[count:], strict=False))


def _check_destination(f: Any) -> None:
    """Before the export takes its time. Example inputs are often given where `f` stands."""
    if f is None or isinstance(f, (str, os.PathLike)) or hasattr(f, "write"):
        return
    kind = type(f).__name__
    if isinstance(f, Mapping):
        help_text = "name the argument: example inputs by keyword are kwargs={...}, dynamic "
        help_text += "dimensions are dynamic_shapes={...}"
    else:
        help_text = (
            "example inputs are one tuple, as in sardonyx.export(model, (x, y), 'model.onnx')"
        )
    raise usage_error(
        f"the third argument, f, is where the model is saved: a path or a file, not {kind}",
        help_text,
    )


def _save(
    program: ONNXProgram, f: str | os.PathLike[str] | IO[bytes], options: Options, steps: Steps
) -> None:
    # The older exporter made inputs of weights that it left out.
    as_inputs = options.keep_initializers_as_inputs or not (options.export_params or options.dynamo)

    def save() -> None:
        program.save(
            f,
            include_initializers=options.export_params,
            keep_initializers_as_inputs=as_inputs,
            external_data=None if options.external_data else False,
        )

    steps.timed("save", save)


def _verify(
    program: ONNXProgram,
    captured: Captured,
    model: Any,
    example: tuple[tuple[Any, ...], dict[str, Any]],
    steps: Steps,
) -> None:
    """The very model against the module in eager PyTorch; an ExportedProgram stands for itself."""
    is_program = hasattr(model, "graph_signature")

    def verify() -> None:
        verify_example(
            program, *example, model=None if is_program else model, leaves=captured.leaves
        )

    steps.timed("verify", verify)


def _exported(program: ExportedProgram) -> ExportedProgram:
    """torch.export's own, of a program that was captured quickly."""
    on_demand = getattr(program, "exported", None)
    made: ExportedProgram = program if on_demand is None else on_demand()
    return made


def _for_report(program: Any, *, failed: bool) -> Any:
    """torch.export's program, where it captures the model, too."""
    if program is None or failed:
        return program
    try:
        return _exported(program)
    except OnnxExporterError:
        return program


def _dump(program: ExportedProgram, folder: str | os.PathLike[str]) -> None:
    import torch

    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
    torch.export.save(program, path / f"sardonyx_export_{stamp}.pt2")
