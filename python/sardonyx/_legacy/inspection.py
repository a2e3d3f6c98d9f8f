"""Models as text, and the operators in them that have no translation."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from sardonyx._base.errors import ConversionError
from sardonyx._capture.capture import capture
from sardonyx._capture.patches.modes import select_model_mode_for_export
from sardonyx._capture.shapes.dynamic_shapes import prepare
from sardonyx._export.convert import convert
from sardonyx._export.export import export


def export_to_pretty_string(model: Any, args: Any, *older: Any, **options: Any) -> str:
    """The text of the ONNX model that `export(model, args, ...)` gives.

    Takes the options of `export`; `export_type`, `google_printer` and `add_node_names` of the older
    exporter change nothing. Its further arguments go by keyword.
    """
    if older:
        raise TypeError("export_to_pretty_string takes its options by keyword")
    for name in ("export_type", "google_printer", "add_node_names", "f"):
        options.pop(name, None)
    known = inspect.signature(export).parameters
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f"export_to_pretty_string takes no {', '.join(unknown)}")
    return str(export(model, args, **options))


def unconvertible_ops(
    model: Any, args: Any, training: Any = None, opset_version: int | None = None
) -> tuple[Any, list[str]]:
    """The captured graph, and the operators in it that have no translation at this opset or none
    for these arguments, once for each call; nothing is written.

    Operators that PyTorch can take apart are not among them. Of a ScriptModule the graph is that of
    TorchScript.
    """
    import torch

    positional = args if isinstance(args, tuple) else (args,)
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        return model.inlined_graph, _unconvertible_in_script(model, args, training, opset_version)
    with select_model_mode_for_export(model, training):
        dynamic = prepare(model, positional, {}, None)
        program = capture(model, positional, {}, dynamic, report=lambda _text: None).program
    try:
        convert(program, opset_version=opset_version)
    except ConversionError as error:
        return program.graph, [d.op for d in error.diagnostics if d.op]
    return program.graph, []


def _unconvertible_in_script(
    script: Any, args: Any, training: Any, opset_version: int | None
) -> list[str]:
    mode = {} if training is None else {"training": training}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "dynamo is deprecated", DeprecationWarning)
            export(script, args, dynamo=False, opset_version=opset_version, **mode)
    except ConversionError as error:
        return [d.op for d in error.diagnostics if d.op]
    return []
