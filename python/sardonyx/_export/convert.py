"""From a captured program to an ONNX model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sardonyx import _native
from sardonyx._base.choices import Runtime
from sardonyx._base.errors import (
    ConversionError,
    Diagnostic,
    diagnostics_from_native,
    usage_error,
)
from sardonyx._capture.shapes.dim_names import one_size_a_name
from sardonyx._model.program import ONNXProgram
from sardonyx._translate.autograd import add_kept
from sardonyx._translate.building import conversion
from sardonyx._translate.symbolic_functions import add_registered, change_above
from sardonyx._translate.translators import Translators

from .fallback import convert_or_decompose
from .inner_tensors import with_inner_tensors
from .options import ConversionOptions, untimed

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from sardonyx._capture.torchscript.program import ScriptProgram
    from sardonyx._optimize.precision import Precision, To
    from sardonyx._translate.registry import OnnxRegistry


def convert(
    program: ExportedProgram | str | os.PathLike[str],
    *,
    inputs: Sequence[str] = (),
    dynamic: Sequence[str] = (),
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    optimize: bool = True,
    fold_weights: bool = True,
    target_runtime: Runtime = "onnxruntime",
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
    precision: Precision | To | None = None,
    fixed: Mapping[str, int] | None = None,
    max_sizes: Mapping[str, int] | None = None,
    stop_after: str = "",
    record_rules: bool = False,
    on_step: Callable[[str, Callable[[], Any]], Any] | None = None,
) -> ONNXProgram:
    """Converts an ExportedProgram, or a .pt2 or TorchScript file, which is read without torch.

    Parameters:
        program: an ExportedProgram, or the path of a file.
        inputs: for TorchScript, what each input is: "x:float32[batch,3]", "n:int",
            "pair:(float32[n], [int64[]])".
        dynamic: for TorchScript, the dynamic dimensions of a traced module's example: "x:0,2".
        input_names: as for `export`.
        output_names: as for `export`.
        opset_version: as for `export`.
        optimize: as for `export`.
        fold_weights: whether weights may be replaced by what is computed of them.
        target_runtime: as for `export`.
        mutations_as_outputs: as for `export`.
        assertions_as_outputs: as for `export`.
        dim_names: names for the symbols of the program ("s77" to "batch") or dimensions of its
            inputs ("x:0" to "batch"). Symbols of an ExportedProgram with one name are one size.
        custom_translation_table: as for `export`.
        registry: as for `export`.
        custom_opsets: versions of other domains that the model is to import.
        plugins: as for `export`.
        fall_through: unsupported operators: "no" (an error), "as-is" (aten::foo), "aten"
            (org.pytorch.aten::ATen).
        decompose: as for `export`.
        modules_as_functions: classes of modules that become model-local functions; an empty
            sequence stands for all.
        precision: as for `optimize`, whose report has the effect.
        fixed: as for `optimize`.
        max_sizes: as for `optimize`.
        stop_after: the last rule or pass that runs.
        record_rules: as for `optimize`.
        on_step: called with the name of each step and a function that runs it.

    Returns:
        The ONNXProgram.
    """
    given = dict(locals())
    del given["program"]
    options = ConversionOptions(**{**given, "on_step": on_step or untimed})
    return converted(program, options, guards=_guards_of(program))


def _guards_of(program: Any) -> list[str]:
    if not hasattr(program, "graph_signature"):
        return []  # a file's are read with it
    from sardonyx._torch_private.export import guards_code  # needs torch; files do not

    return guards_code(program)


def converted(
    program: ExportedProgram | str | os.PathLike[str],
    options: ConversionOptions,
    least_sizes: Mapping[str, int] | None = None,
    guards: Sequence[str] = (),
) -> ONNXProgram:
    """The same with the options as one record. `least_sizes`: by symbol, what the user declared it
    to be at least, which the program's ranges do not say. `guards`: the conditions on sizes that
    torch.export recorded in the user's program."""
    attempt = _Conversion(options, least_sizes, guards)
    try:
        if isinstance(program, (str, os.PathLike)):
            return ONNXProgram(attempt.of_file(os.fspath(program)), None, attempt.notes)
        if not hasattr(program, "graph_signature"):
            kind = type(program).__name__
            raise usage_error(f"a program is an ExportedProgram or the path of a file, not {kind}")
        model, notes = attempt.of_program(program)
    except ConversionError as error:
        if attempt.translators.errors:
            raise error from attempt.translators.errors[0]
        raise
    made = ONNXProgram(model, program, notes + attempt.notes)
    made._conversion = options
    _compute_constants(made, program)
    return made


def translated_with_values(made: ONNXProgram) -> tuple[_native.Model, ExportedProgram]:
    """A translation of the program that a model was made of, as it was made but not optimized, with
    every value of the program as an output `value::<node>`; and the program that was translated,
    whose operators are decomposed where those of the model are."""
    program = made.exported_program
    assert program is not None
    # A model that was put together by hand was converted with no options.
    given = made._conversion or convert(program, opset_version=made.opset_version)._conversion
    options = replace(given, optimize=False, modules_as_functions=None, stop_after="")
    options = replace(options, precision=None)
    options = replace(options, opset_version=made.opset_version, on_step=untimed)
    attempt = _Conversion(options)
    attempt.values_as_outputs()
    model, _ = attempt.of_program(program)
    assert attempt.walked is not None
    return model, attempt.walked


class _Conversion:
    """One conversion; tries again after operators were decomposed."""

    def __init__(
        self,
        options: ConversionOptions,
        least_sizes: Mapping[str, int] | None = None,
        guards: Sequence[str] = (),
    ) -> None:
        self.options = options
        self.least_sizes = dict(least_sizes or {})
        self.guards = list(guards)
        opset = options.checked_opset()
        self.translators = _translators(options, opset)
        self.notes: list[Diagnostic] = []
        # If the user names no opset, the program may need a newer one. That is allowed unless
        # different custom translators apply to newer opsets.
        is_open = (
            options.opset_version is None and options.registry is None and not change_above(opset)
        )
        self._native = options.native(None if is_open else opset)
        self._captured_names: list[str] | None = None
        self.walked: ExportedProgram | None = None  # the last that was translated

    def of_file(self, path: str) -> _native.Model:
        """The model of a .pt2 file."""
        return self._translated(self.options.on_step("read", lambda: self._read(path)))

    def _read(self, path: str) -> _native.Program:
        given = self.options
        names = [f"{dim}={name}" for dim, name in (given.dim_names or {}).items()]
        return _native.read(path, list(given.inputs), list(given.dynamic), names)

    def of_program(self, program: ExportedProgram) -> tuple[_native.Model, list[Diagnostic]]:
        """The model of a program in memory, and a note for each operator that was decomposed."""
        if self.options.decompose:
            return convert_or_decompose(program, self._of_live)
        return self._of_live(program), []

    def values_as_outputs(self) -> None:
        """Has every value of the program handed out."""
        self._native.values_as_outputs = True

    def _of_live(self, live: ExportedProgram | ScriptProgram) -> _native.Model:
        from sardonyx._capture.torchscript.program import ScriptProgram  # needs torch; files do not

        if isinstance(live, ScriptProgram):
            return self._translated(self.options.on_step("read", live.read))
        self.walked = live = with_inner_tensors(live)
        names = dict(self.options.dim_names or {})
        with one_size_a_name(live, names) as names:
            walked = self.options.on_step(
                "walk", lambda: _native.walk(live, names, self.least_sizes, self.guards)
            )
        return self._translated(walked)

    def _translated(self, walked: _native.Program) -> _native.Model:
        native, wanted = self._native, self._native.output_names
        if self._captured_names is None:
            self._captured_names = walked.user_output_names(native.input_names, wanted)
        else:  # decomposed: its own names for the outputs mean nothing to the user
            native.output_names = self._captured_names
        self.notes.clear()  # of an attempt before this one

        def run() -> _native.Model:
            with conversion():
                return _native.convert(
                    walked,
                    native,
                    translators=self.translators.plain,
                    complex_translators=self.translators.complex,
                    on_notes=lambda notes: self.notes.extend(diagnostics_from_native(notes)),
                )

        model: _native.Model = self.options.on_step("convert", run)
        return model


def _compute_constants(made: ONNXProgram, program: ExportedProgram) -> None:
    """Supplies what a fake program's own constants hold, which no checkpoint has."""
    if all(getattr(value, "fake_mode", None) is None for value in program.constants.values()):
        return
    from sardonyx._capture.fake_values import computed_constants

    used = set(_native.weight_names(made._model))
    values = computed_constants(program)
    made.apply_weights({name: value for name, value in values.items() if name in used})


def _translators(options: ConversionOptions, opset: int) -> Translators:
    """The user's own, the nearest last: registered for all exports, of a registry, of the table."""
    translators = Translators()
    add_registered(translators, opset)
    add_kept(translators, opset)
    if options.registry is not None:
        options.registry.fill(translators)
    translators.add_table(options.custom_translation_table)
    return translators
