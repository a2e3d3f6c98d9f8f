"""From a part to an ONNX model: captured, given its weights, optimized."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from sardonyx import _native
from sardonyx._base.choices import CaptureStrategy, Runtime
from sardonyx._base.errors import (
    CaptureError,
    Diagnostic,
    OnnxExporterError,
    UsageError,
    refusal,
    refusals,
)
from sardonyx._base.state import leaving_size_branches
from sardonyx._capture.meta_tracer.symbolic.solving import hearing_fixed_sizes
from sardonyx._capture.patches.symbolic_int_calls import whole_sizes
from sardonyx._capture.shapes.dim_spec import NonEmptyDim
from sardonyx._export.export import export as export_module
from sardonyx._model.program import ONNXProgram
from sardonyx._model.weight_files import WeightInFile
from sardonyx._optimize.optimize import optimize
from sardonyx._optimize.precision import Precision
from sardonyx._optimize.report import OptimizationReport
from sardonyx._torch_private.questions import limiting_sizes
from sardonyx._transformers_private.tracing import no_mask_where_none_given
from sardonyx._translate.autograd import by_forward
from sardonyx.hf.base.caches import PAST, PAST_LENGTH, PRESENT
from sardonyx.hf.base.example import BATCH, LENGTH, TOTAL_LENGTH, Dims
from sardonyx.hf.base.experts import all_experts
from sardonyx.hf.base.paired_caches import is_state
from sardonyx.hf.base.parts import Part
from sardonyx.hf.output.genai import is_for

# Under which name parts hold the model.
_PREFIX = "model."
# Of what is asked of sizes. PyTorch multiplies it out: where windows are padded in each of four
# stages (Swin), that is 1100 terms in the second, after ten seconds, and never ends in the last.
_MAX_TERMS = 1000
# And with all that is asked: what Hiera and SAM's encoder ask takes half a million and a minute; an
# encoder behind SAM's, whose patches are its map (Unlimited-OCR), asks on and on.
_MAX_IN_ALL = 700_000
_DEEP = (
    "what the model's own code computes of sizes is more than PyTorch can keep apart, so that "
    "these are as in the example"
)
_FIXED = (
    "the model takes what is computed of sizes of images for numbers, so that these are as in the "
    "example"
)
_ONE_TOKEN = (
    "the model's own code loops over tokens, so that input_ids is one token: prompts go through "
    "token by token, as what follows them does"
)
_ONE_ROW = "the model's own code takes the number of rows for a constant, so that they are one"
_CAPTURED_FOR_ONE_ROW = (
    "the model could be captured for one row alone, as where its own code goes through the rows "
    "one by one"
)
_CAPTURED_FOR_IMAGES = (
    "the model could be captured for images of one size alone, as where its own code goes through "
    "parts of an image one by one: images have the example's size, which --image-size sets"
)

# What is said of an `int(…)` that made a number of a size.
_OF_INT = re.compile(r"TruncToInt\(|\bint\(")


@dataclass(frozen=True)
class ExportTarget:
    """The runtime, opset and precision of an export: options of `sardonyx.export` and
    `sardonyx.optimize`."""

    precision: Precision | None = None
    runtime: Runtime = "onnxruntime"
    opset: int | None = None
    capture: CaptureStrategy = "auto"
    fixed: Mapping[str, int] = field(default_factory=dict)
    max_sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def captured_for(self) -> tuple[Runtime, int | None]:
        """The target and opset of the first model, whose weights are not there yet. A GPU's contrib
        operators are fused when it is in half precision, so that the first one has none."""
        if not _native.target_is_accelerated(self.runtime):
            return self.runtime, self.opset
        return "standard", self.opset or _native.target_opset(self.runtime)


def captured(part: Part, target: ExportTarget) -> tuple[Part, ONNXProgram, list[str]]:
    """The part as an ONNX model with the weights that the module has, and what is to be told of it.
    Nothing is computed of weights yet, since they may have none. Where the model's code takes the
    number of tokens for a constant, that is the part for one token; where it does so with rows, or
    goes through them one by one, for one row; where it counts by a mask, for what has no padding;
    and where its sizes hang on those of images by more than PyTorch can compute with, for images of
    the example's size."""
    if part.one_token is not None:
        whole, program = _of_decoder(part, part.one_token, target)
        notes = [_ONE_TOKEN] if whole is part.one_token else []
        if _for_one_batch(whole, program):
            whole = whole.of_one_row()
            program = _captured(whole, target)
            notes.append(_ONE_ROW)
        _check_free(whole, program)
        return whole, program, notes
    notes = []
    try:
        part, program = _of_sizes(part, target, notes)
    except CaptureError:
        # Its error is of the inputs that the part was to have.
        if (other := _restricted(part, target, notes)) is None:
            raise
        return other
    if part.is_one_row:
        notes.append(_ONE_ROW)
    _check_free(part, program, {PAST_LENGTH, *part.must_vary})
    if part.one_row is None or not _for_one_batch(part, program):
        return part, program, notes
    part, program = _of_sizes(part.one_row, target, notes)
    return part, program, [*notes, _ONE_ROW]


def _restricted(
    part: Part, target: ExportTarget, notes: Sequence[str]
) -> tuple[Part, ONNXProgram, list[str]] | None:
    """The part without padding, for one row, or for images of the example's size, where it can be
    captured so. `notes`: those of the capture that failed."""
    if part.unpadded is not None:
        with contextlib.suppress(CaptureError):
            return part.unpadded, _captured(part.unpadded, target), [*notes]
    row = part.one_row
    tried = [] if row is None else [(row, [_CAPTURED_FOR_ONE_ROW])]
    tried += [
        (next(each.with_fewer_dims()), [*reasons, _CAPTURED_FOR_IMAGES])
        for each, reasons in ((part, []), *tried)
        if each.sizes_of_images
    ]
    for each, reasons in tried:
        with contextlib.suppress(OnnxExporterError):
            found, program = _of_sizes(each, target, reasons)
            _check_free(found, program, {PAST_LENGTH, *part.must_vary})
            return found, program, reasons
    return None


class _SizesError(BaseException):
    """Sizes cannot be dynamic. `why`: what is reported.

    It is a BaseException, which ends the capture. After an Exception other strategies would run,
    and none of them can help or come to an end.
    """

    why = ""


class _DeepSizesError(_SizesError):
    """What is computed of them has too many terms."""

    why = _DEEP


class _FixedSizesError(_SizesError):
    """What is computed of those of images is fixed by what is asked of it."""

    why = _FIXED


def _of_sizes(part: Part, target: ExportTarget, notes: list[str]) -> tuple[Part, ONNXProgram]:
    for fewer in part.with_fewer_dims():
        images = {f"L['inputs']['{name}'].size()[{axis}]" for name, axis in part.sizes_of_images}

        def check(sizes: Collection[str], images: set[str] = images) -> None:
            if sizes and images.issuperset(sizes):
                raise _FixedSizesError

        try:
            with (
                limiting_sizes(_MAX_TERMS, _MAX_IN_ALL, _DeepSizesError),
                hearing_fixed_sizes(check),
            ):
                return part, _captured(part, target)
        except _SizesError as error:
            names = {size for axes in part.dims.values() for size in axes.values()}
            names -= {size for axes in fewer.dims.values() for size in axes.values()}
            notes.append(f"{error.why}: {', '.join(sorted(names))}")
            part = fewer
    return part, _captured(part, target)


def _of_decoder(part: Part, one_token: Part, target: ExportTarget) -> tuple[Part, ONNXProgram]:
    refused: OnnxExporterError | None = None
    if not part.loops:
        try:
            program = _captured(part, target)
            least, most = _native.bounds(program._native, part.tokens, 1)
            if least < most:
                return part, program
        except CaptureError as error:
            refused = error
    try:
        return one_token, _captured(one_token, target)
    except CaptureError as error:
        raise refused or error from error


def _for_one_batch(part: Part, program: ONNXProgram) -> bool:
    """Whether it is for the example's number of rows alone, or mixes rows up."""
    rows = [name for name, axes in part.dims.items() if axes.get(0) == BATCH]
    bounds = [_native.bounds(program._native, name, 0) for name in rows]
    if any(least == most for least, most in bounds):
        return True
    # RWKV adds [rows, width] to [rows, 1, width] where it gets one token.
    shapes = (shape or () for _, _, shape in program._native.outputs)
    return any(shape.count(BATCH) > 1 for shape in shapes)


def _check_free(part: Part, program: ONNXProgram, sizes: Collection[str] | None = None) -> None:
    """SX2009 where a decoder would run for the example's batch or past alone, or for the example's
    of those `sizes` that have to vary."""
    for name, axes in part.dims.items():
        for axis, size in axes.items():
            if sizes is not None and size not in sizes:
                continue
            least, most = _native.bounds(program._native, name, axis)
            if least == most:
                reasons = [note.message for note in program.notes if note.code == "SX1008"]
                raise refusal(
                    "SX2009",
                    f"the model's own code makes {size} of '{name}' {most}",
                    "; ".join(reasons)
                    or "export without a cache: leave `-with-past` out of the task",
                )


def _captured(part: Part, target: ExportTarget) -> ONNXProgram:
    """The part as it is, or where the model's code makes Python's integers of sizes, with sizes in
    the place of these, if that can be captured."""
    program = _exported(part, target)
    if any(note.code == "SX1015" and _OF_INT.search(note.message) for note in program.notes):
        # torch.export may take minutes with what comes of that.
        quick = replace(target, capture="quick" if target.capture == "auto" else target.capture)
        with contextlib.suppress(OnnxExporterError, _DeepSizesError), whole_sizes(part.module):
            return _exported(part, quick)
    return program


def _exported(part: Part, target: ExportTarget) -> ONNXProgram:
    with warnings.catch_warnings():
        # Dims that the model itself makes constant are in the notes; what it keeps of a call are
        # tables that it makes once; and what do_constant_folding is for, here, is not what it is
        # deprecated for.
        warnings.filterwarnings("ignore", category=UserWarning, module="sardonyx")
        warnings.filterwarnings("ignore", r".*tensors that forward\(\) keeps", UserWarning)
        warnings.filterwarnings("ignore", "do_constant_folding", DeprecationWarning)
        with (
            torch.no_grad(),
            all_experts(part.module),
            no_mask_where_none_given(),
            by_forward(),
            leaving_size_branches(),  # what such models ask of their inputs' sizes always holds
        ):
            runtime, opset = target.captured_for
            return export_module(
                part.module,
                (part.inputs,),
                dynamic_shapes={"inputs": _dynamic(part.dims)},
                input_names=list(part.inputs),
                output_names=list(part.outputs),
                opset_version=opset,
                target_runtime=runtime,
                do_constant_folding=False,
                capture=target.capture,
            )


def _dynamic(dims: Dims) -> Dims:
    """The dimensions for the capture, where a batch has at least one element."""
    batch = NonEmptyDim(BATCH)
    return {
        name: {axis: batch if size == BATCH else size for axis, size in axes.items()}
        for name, axes in dims.items()
    }


def give_weights(
    program: ONNXProgram, model: torch.nn.Module, places: Mapping[str, WeightInFile]
) -> None:
    """Has the weights read from their files when the model is written, rounded to its types.

    SX2004 for those that do not fit.
    """
    known = model.state_dict(keep_vars=True)
    by_tensor = {id(known[name]): place for name, place in places.items()}
    entries: list[Any] = []
    problems: list[str] = []
    for name in _native.weight_names(program._native):
        own = name.removeprefix(_PREFIX)
        place = places.get(own)
        if place is None and own in known:
            place = by_tensor.get(id(known[own]))
        if place is not None:
            entries.append((name, *place[1:]))
        elif own in known and isinstance(known[own], torch.nn.Parameter):
            problems.append(f"'{own}' is in no file")
    problems += _native.apply_file_weights(program._native, entries, [], cast=True)
    if problems:
        raise refusals([Diagnostic("SX2004", problem) for problem in problems])


def finished(
    program: ONNXProgram,
    target: ExportTarget,
    longest: int | None = None,
    kept: Collection[str] = (),
) -> OptimizationReport:
    """Names the weights as the checkpoint's model does, and optimizes with what they hold.

    `longest`: the tokens of the longest text there is to be. `kept`: weights that stay as they are.
    """
    if longest is not None:
        _native.limit(program._native, "attention_mask", 1, longest)
    names = _native.weight_names(program._native)
    _native.rename_weights(
        program._native,
        {name: name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)},
    )
    precision = target.precision
    there = {name.removeprefix(_PREFIX) for name in names} & set(kept)
    if precision is not None and there:
        # One pattern: a norm of ones is gone by then, and a pattern that fits nothing is an error.
        either = "|".join(re.escape(name) for name in sorted(there))
        precision = replace(precision, keep=[*precision.keep, f"^(?:{either})$"])
    dims = dim_names(program)
    report = optimize(
        program,
        runtime=target.runtime,
        precision=precision,
        fixed=_fixed(target.fixed, dims),
        max_sizes={name: number for name, number in target.max_sizes.items() if name in dims},
    ).report
    if is_for(target.runtime):
        _native.count_past_by_mask(program._native, "attention_mask", "input_ids")
        # The runtime has one buffer for a state before a token and after it.
        for name in filter(is_state, (name for name, _, _ in program._native.inputs)):
            present = name.replace(PAST, PRESENT, 1)
            _native.write_after_readers(program._native, name, present)
    return report


def _fixed(numbers: Mapping[str, int], dims: Collection[str]) -> dict[str, int]:
    """Those of the dimensions. With the cache and the tokens, the length of both together is fixed:
    PyTorch's program has it as a third size."""
    fixed = {name: number for name, number in numbers.items() if name in dims}
    if TOTAL_LENGTH in dims and PAST_LENGTH in fixed and LENGTH in fixed:
        total = fixed[PAST_LENGTH] + fixed[LENGTH]
        if fixed.setdefault(TOTAL_LENGTH, total) != total:
            raise refusal(
                "SX1019",
                f"{TOTAL_LENGTH} cannot be {fixed[TOTAL_LENGTH]}: with {PAST_LENGTH} and {LENGTH} "
                f"it is {total}",
                "leave it out",
                UsageError,
            )
    return fixed


def dim_names(program: ONNXProgram) -> set[str]:
    """The dynamic dimensions of the inputs."""
    shapes = [shape or () for _, _, shape in program._native.inputs]
    return {size for shape in shapes for size in shape if isinstance(size, str)}
