"""Sardonyx turns PyTorch programs into ONNX models.

    import sardonyx

    program = sardonyx.export(model, (x,), "model.onnx", dynamic_shapes={"x": {0: "batch"}})
    program(x)

Importing the package imports neither torch nor onnx nor the native library: each comes in when it
is needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import verification
    from ._diagnostic_options import DiagnosticOptions
    from ._dynamo_export import ExportOutputSerializer, FXGraphExtractor, dynamo_export
    from ._errors import (
        CaptureError,
        ConversionError,
        Diagnostic,
        OnnxExporterError,
        ProgramError,
        SaveError,
        UnsupportedOperatorError,
        UsageError,
        VerificationError,
    )
    from ._export import convert, export
    from ._fake_mode import ONNXFakeContext, enable_fake_mode
    from ._logging import disable_log, enable_log
    from ._modes import select_model_mode_for_export
    from ._options import ExportOptions, OperatorExportTypes, TrainingMode
    from ._program import ONNXProgram
    from ._registry import ONNXFunction, OnnxRegistry
    from ._runtime_options import ONNXRuntimeOptions
    from ._state import is_in_onnx_export
    from ._symbolic_functions import register_custom_op_symbolic, unregister_custom_op_symbolic
    from .symbolic_helper import JitScalarType
    from .utils import export_to_pretty_string, unconvertible_ops

    ExportOutput = ONNXProgram
    from ._view import view

__all__ = [
    "CaptureError",
    "ConversionError",
    "Diagnostic",
    "DiagnosticOptions",
    "ExportOptions",
    "ExportOutput",
    "ExportOutputSerializer",
    "FXGraphExtractor",
    "JitScalarType",
    "ONNXFakeContext",
    "ONNXFunction",
    "ONNXProgram",
    "ONNXRuntimeOptions",
    "OnnxExporterError",
    "OnnxRegistry",
    "OperatorExportTypes",
    "ProgramError",
    "SaveError",
    "TrainingMode",
    "UnsupportedOperatorError",
    "UsageError",
    "VerificationError",
    "convert",
    "disable_log",
    "dynamo_export",
    "enable_fake_mode",
    "enable_log",
    "export",
    "export_to_pretty_string",
    "is_in_onnx_export",
    "register_custom_op_symbolic",
    "select_model_mode_for_export",
    "unconvertible_ops",
    "unregister_custom_op_symbolic",
    "verification",
    "view",
]

_HOME = {
    "DiagnosticOptions": "_diagnostic_options",
    "ExportOptions": "_options",
    "ExportOutput": "_program",
    "ExportOutputSerializer": "_dynamo_export",
    "FXGraphExtractor": "_dynamo_export",
    "JitScalarType": "symbolic_helper",
    "ONNXFakeContext": "_fake_mode",
    "ONNXFunction": "_registry",
    "ONNXProgram": "_program",
    "ONNXRuntimeOptions": "_runtime_options",
    "OnnxRegistry": "_registry",
    "OperatorExportTypes": "_options",
    "TrainingMode": "_options",
    "convert": "_export",
    "disable_log": "_logging",
    "dynamo_export": "_dynamo_export",
    "enable_fake_mode": "_fake_mode",
    "enable_log": "_logging",
    "export": "_export",
    "export_to_pretty_string": "utils",
    "is_in_onnx_export": "_state",
    "register_custom_op_symbolic": "_symbolic_functions",
    "select_model_mode_for_export": "_modes",
    "unconvertible_ops": "utils",
    "unregister_custom_op_symbolic": "_symbolic_functions",
    "view": "_view",
}
# Modules that are imported when they are first used.
_MODULES = ("op", "ops", "symbolic_helper", "utils", "verification")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("._native", __name__).version
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module("." + _HOME.get(name, "_errors"), __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, "__version__"})
