"""`sardonyx.optimize`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from sardonyx import _native
from sardonyx._base.bytes_written import bytes_written
from sardonyx._base.errors import diagnostics_from_native, usage_error, warn
from sardonyx._model.ir import from_ir, to_ir
from sardonyx._model.program import ONNXProgram

from .dims import native_dims
from .precision import HeldWeight, Precision, To, native_precision
from .proto import from_proto, to_proto
from .report import Applied, Declined, OptimizationReport

T = TypeVar("T")
AnyPath = str | os.PathLike[str]


class Optimized(tuple[T, OptimizationReport], Generic[T]):
    """An optimized model, and what was done to it: `model, report = sardonyx.optimize(...)`.

    (A NamedTuple can be generic from Python 3.11 on.)
    """

    __slots__ = ()

    def __new__(cls, model: T, report: OptimizationReport) -> Optimized[T]:
        return super().__new__(cls, (model, report))

    def __getnewargs__(self) -> tuple[T, OptimizationReport]:
        return self.model, self.report

    def __repr__(self) -> str:
        return f"Optimized(model={self.model!r}, report={self.report!r})"

    @property
    def model(self) -> T:
        """Of the kind that was passed, or the path that was written."""
        return self[0]

    @property
    def report(self) -> OptimizationReport:
        """What was done to the model."""
        return self[1]


@overload
def optimize(
    model: Any,
    out: AnyPath,
    *,
    runtime: str | None = ...,
    opset: int | None = ...,
    precision: Precision | To | None = ...,
    disable: Iterable[str] = ...,
    stop_after: str | None = ...,
    functions: bool = ...,
    inline_functions: bool = ...,
    freeze_initializers: bool | None = ...,
    external_data: bool | None = ...,
    fixed: Mapping[str, int] | None = ...,
    max_sizes: Mapping[str, int] | None = ...,
    record_rules: bool = ...,
) -> Optimized[Path]: ...
@overload
def optimize(
    model: AnyPath,
    out: None = ...,
    *,
    runtime: str | None = ...,
    opset: int | None = ...,
    precision: Precision | To | None = ...,
    disable: Iterable[str] = ...,
    stop_after: str | None = ...,
    functions: bool = ...,
    inline_functions: bool = ...,
    freeze_initializers: bool | None = ...,
    external_data: bool | None = ...,
    fixed: Mapping[str, int] | None = ...,
    max_sizes: Mapping[str, int] | None = ...,
    record_rules: bool = ...,
) -> Optimized[ONNXProgram]: ...
# An onnx.ModelProto, an onnx_ir.Model or an ONNXProgram: of the same kind.
@overload
def optimize(
    model: T,
    out: None = ...,
    *,
    runtime: str | None = ...,
    opset: int | None = ...,
    precision: Precision | To | None = ...,
    disable: Iterable[str] = ...,
    stop_after: str | None = ...,
    functions: bool = ...,
    inline_functions: bool = ...,
    freeze_initializers: bool | None = ...,
    external_data: bool | None = ...,
    fixed: Mapping[str, int] | None = ...,
    max_sizes: Mapping[str, int] | None = ...,
    record_rules: bool = ...,
) -> Optimized[T]: ...


def optimize(
    model: Any,
    out: AnyPath | None = None,
    *,
    runtime: str | None = None,
    opset: int | None = None,
    precision: Precision | To | None = None,
    disable: Iterable[str] = (),
    stop_after: str | None = None,
    functions: bool = False,
    inline_functions: bool = False,
    freeze_initializers: bool | None = None,
    external_data: bool | None = None,
    fixed: Mapping[str, int] | None = None,
    max_sizes: Mapping[str, int] | None = None,
    record_rules: bool = False,
) -> Optimized[Any]:
    """Optimizes any ONNX model: the same results under the same names, from fewer nodes.

    Args:
        model: the path of an ONNX file, an onnx.ModelProto, an onnx_ir.Model or an ONNXProgram. It
            is not changed, except for an ONNXProgram, which is optimized in place.
        out: the path to write to, atomically; the path of `model` replaces the file. External data
            go to `<out>.data`.
        runtime: the target runtime, see docs/targets.md; by default the one it was exported for, or
            "onnxruntime".
        opset: the target opset; by default the model's own.
        precision: "fp16" or "bf16" for the whole graph, "int8" or "int4" for block-wise quantized
            weights, "fp16+int8" or "fp16+int4" for both, or a `Precision`; the report has the error
            of each weight.
        disable: rules and passes to skip, by the names of `sardonyx optimize --list-rules`.
        stop_after: the last rule or pass that runs, to bisect.
        functions: outline repeated layers into one model-local function; runtimes inline it.
        inline_functions: inline calls of model-local functions first, so that rules see the whole
            model. If `opset` has other operators than a function, it is inlined anyway.
        freeze_initializers: make constants of initializers that are graph inputs too, so that rules
            fold them and runtimes prepack them. By default where every initializer is an input in
            a file of IR version 4 or older, as PyTorch before 1.5 wrote them all; elsewhere the
            report has a hint where it would help.
        external_data: for `out`: True writes external data, False never does, and None does if the
            model exceeds 2 GB or was read with external data.
        fixed: dynamic dimensions of the inputs that are a number, and with them every shape that
            depends on them: `{"batch": 1, "sequence": 128}`.
        max_sizes: dynamic dimensions that are a number at most.
        record_rules: nodes have the names of the rules that made or changed them, as metadata
            `sardonyx.rules`.

    Returns:
        `(model, report)`. The model is the path `out` if given, else of the type of `model`; for a
            path, an ONNXProgram over the mapped file, which must not change. The report has what
            was applied, what was declined, and why.

    Raises:
        UsageError: there is no such opset, runtime or dimension, or a number is outside of the
            dimension's range.
        ProgramError: the file is not a model.
        ConversionError: the opset can't express the model, or there is no such rule.
        SaveError: `out` can't be written; the previous file is kept.
    """
    source = source_of(model)
    done = _native.simplify(
        source,
        opset=opset,
        runtime=runtime or "",
        stop_after=stop_after or "",
        disable=_names(disable),
        precision=native_precision(precision),
        functions=functions,
        inline_functions=inline_functions,
        freeze_initializers=freeze_initializers,
        is_as_read=isinstance(model, (str, os.PathLike)),
        dims=native_dims(fixed, max_sizes),
        record_rules=record_rules,
    )
    if out is not None:
        with bytes_written(out) as progress:
            _native.write(source, os.fspath(out), external_data=external_data, progress=progress)
    report = _report(done)
    for note in report.notes:
        warn(note, stacklevel=2)
    return Optimized(result_of(model, source, out), report)


def _names(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def source_of(model: Any) -> _native.Model:
    if isinstance(model, (str, os.PathLike)):
        return _native.read_model(os.fspath(model))
    if isinstance(model, ONNXProgram):
        return model.as_native()
    if _is(model, "onnx", "ModelProto"):
        return from_proto(model)
    if _is(model, "onnx_ir", "Model"):
        return from_ir(model, None, {})
    raise usage_error(
        f"a model is a path, an onnx.ModelProto, an onnx_ir.Model or an ONNXProgram, not "
        f"{type(model).__name__}"
    )


def result_of(model: Any, source: _native.Model, out: AnyPath | None) -> Any:
    if isinstance(model, ONNXProgram):
        model.take_native(source)
    if out is not None:
        return Path(out)
    if isinstance(model, (str, os.PathLike)):
        return ONNXProgram(source)
    if isinstance(model, ONNXProgram):
        return model
    return to_proto(source) if _is(model, "onnx", "ModelProto") else to_ir(source)[0]


def _is(model: Any, module: str, name: str) -> bool:
    """Whether it is of a class of a package that is imported only by those who have one."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(model, kind)


def _report(
    done: tuple[
        list[tuple[str, int]],
        list[tuple[str, str, str]],
        list[_native.WeightPrecision],
        int,
        int,
        bytes,
    ],
) -> OptimizationReport:
    applied, declined, weights, before, after, notes = done
    return OptimizationReport(
        tuple(Applied(*each) for each in applied),
        tuple(Declined(*each) for each in declined),
        tuple(HeldWeight(each) for each in weights),
        before,
        after,
        tuple(diagnostics_from_native(notes)),
    )
