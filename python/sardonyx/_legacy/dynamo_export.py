"""The interface that came before `export(dynamo=True)`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Protocol

from sardonyx._base.errors import OnnxExporterError
from sardonyx._export.export import export
from sardonyx._report.sarif import write_sarif

from .graph_extractor import all_dynamic
from .options import ExportOptions

if TYPE_CHECKING:
    import io

    from sardonyx._model.program import ONNXProgram

REPORT = "report_dynamo_export.sarif"


def dynamo_export(
    model: Any,
    /,
    *model_args: Any,
    export_options: ExportOptions | None = None,
    **model_kwargs: Any,
) -> ONNXProgram:
    """Exports a module, function or ExportedProgram on example inputs.

    `export(model, args, kwargs=kwargs)` is what to write now; a DeprecationWarning says so. Where
    it fails, `report_dynamo_export.sarif` in the working directory says of what.
    """
    warnings.warn(
        "dynamo_export is deprecated: sardonyx.export(model, args, kwargs=kwargs, "
        "dynamic_shapes=...) does the same",
        DeprecationWarning,
        stacklevel=2,
    )
    options = export_options or ExportOptions()
    registry = options.onnx_registry
    dynamic = all_dynamic(model, model_args, model_kwargs) if options.dynamic_shapes else None
    try:
        program = export(
            model,
            model_args,
            kwargs=model_kwargs,
            dynamic_shapes=dynamic,
            opset_version=None if registry is None else registry.opset_version,
            registry=registry,
        )
        if options.diagnostic_options is not None:
            options.diagnostic_options.honour(program.notes)
    except OnnxExporterError as error:
        _report(error)
        raise
    return program


def _report(error: OnnxExporterError) -> None:
    """Writes what went wrong where editors that show SARIF can open it."""
    try:
        write_sarif(REPORT, error.diagnostics)
    except OSError:
        return  # the error itself matters more
    if hasattr(error, "add_note"):  # Python 3.11
        error.add_note(f"{REPORT} has this as SARIF, for editors to show beside the code")


class ExportOutputSerializer(Protocol):
    """Writes a program to a binary file object in a format of its own."""

    def serialize(self, export_output: ONNXProgram, destination: io.BufferedIOBase) -> None:
        """Writes `export_output` to `destination`."""
        ...
