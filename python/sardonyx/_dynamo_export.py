"""The interface that came before `export(dynamo=True)`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Protocol

from ._errors import OnnxExporterError
from ._export import export
from ._options import ExportOptions
from ._sarif import write_sarif

if TYPE_CHECKING:
    import io

    import torch

    from ._program import ONNXProgram

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
    dynamic = _all_dynamic(model, model_args, model_kwargs) if options.dynamic_shapes else None
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


def _all_dynamic(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Every axis of every tensor as Dim.AUTO, which stays constant where the model needs that."""
    import inspect

    import torch
    from torch.utils import _pytree as pytree

    def axes(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return None
        return dict.fromkeys(range(leaf.dim()), torch.export.Dim.AUTO)

    if isinstance(model, torch.export.ExportedProgram):
        return None
    function = model.forward if isinstance(model, torch.nn.Module) else model
    bound = inspect.signature(function).bind(*args, **kwargs)
    return {name: pytree.tree_map(axes, value) for name, value in bound.arguments.items()}


class FXGraphExtractor:
    """Extracts the FX graph of a PyTorch model: the first step of `dynamo_export`."""

    def generate_fx(
        self,
        options: ExportOptions,
        model: Any,
        model_args: tuple[Any, ...],
        model_kwargs: dict[str, Any],
    ) -> torch.fx.GraphModule:
        """The graph of ATen calls that torch.export captures of a module or function.

        Weights and buffers are inputs, before the others; every size is dynamic where
        `options.dynamic_shapes` says so. Raises CaptureError with what each strategy said.
        """
        from ._callable import as_module
        from ._capture import capture
        from ._dynamic_shapes import prepare

        shapes = _all_dynamic(model, model_args, model_kwargs) if options.dynamic_shapes else None
        module = as_module(model)
        dynamic = prepare(module, model_args, model_kwargs, shapes)
        captured = capture(module, model_args, model_kwargs, dynamic, report=lambda _text: None)
        graph: torch.fx.GraphModule = captured.program.graph_module
        return graph


class ExportOutputSerializer(Protocol):
    """Writes a program to a binary file object in a format of its own."""

    def serialize(self, export_output: ONNXProgram, destination: io.BufferedIOBase) -> None:
        """Writes `export_output` to `destination`."""
        ...
