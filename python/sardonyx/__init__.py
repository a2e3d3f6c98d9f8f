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
    from . import errors as errors
    from . import hf as hf
    from . import op as op
    from . import operators as operators
    from . import ops as ops
    from . import symbolic_helper as symbolic_helper
    from . import transformers as transformers
    from . import utils as utils
    from . import verification
    from ._base.enumerators import OperatorExportTypes, TensorProtoDataType, TrainingMode
    from ._base.errors import (
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
    from ._base.log import disable_log, enable_log
    from ._base.state import is_in_onnx_export
    from ._base.threads import set_num_threads
    from ._capture.fake_mode import ONNXFakeContext, enable_fake_mode
    from ._capture.patches.modes import select_model_mode_for_export
    from ._export.convert import convert
    from ._export.export import export
    from ._export.exportable import ExportableModule
    from ._export.observer import InputObserver
    from ._legacy.diagnostic_options import DiagnosticOptions
    from ._legacy.dynamo_export import ExportOutputSerializer, dynamo_export
    from ._legacy.graph_extractor import FXGraphExtractor
    from ._legacy.inspection import export_to_pretty_string, unconvertible_ops
    from ._legacy.options import ExportOptions
    from ._model.program import ONNXProgram
    from ._optimize.optimize import Optimized, optimize
    from ._optimize.precision import Precision
    from ._optimize.report import OptimizationReport
    from ._quantize.calibrate import Statistics, calibrate
    from ._quantize.quantize import Quantized, quantize
    from ._quantize.report import QuantizationReport
    from ._runtime.options import ONNXRuntimeOptions
    from ._translate.registry import ONNXFunction, OnnxRegistry
    from ._translate.scalar_types import JitScalarType
    from ._translate.symbolic_functions import (
        register_custom_op_symbolic,
        unregister_custom_op_symbolic,
    )

    ExportOutput = ONNXProgram
    from ._model.view import view

__all__ = [
    "CaptureError",
    "ConversionError",
    "Diagnostic",
    "DiagnosticOptions",
    "ExportOptions",
    "ExportOutput",
    "ExportOutputSerializer",
    "ExportableModule",
    "FXGraphExtractor",
    "InputObserver",
    "JitScalarType",
    "ONNXFakeContext",
    "ONNXFunction",
    "ONNXProgram",
    "ONNXRuntimeOptions",
    "OnnxExporterError",
    "OnnxRegistry",
    "OperatorExportTypes",
    "OptimizationReport",
    "Optimized",
    "Precision",
    "ProgramError",
    "QuantizationReport",
    "Quantized",
    "SaveError",
    "Statistics",
    "TensorProtoDataType",
    "TrainingMode",
    "UnsupportedOperatorError",
    "UsageError",
    "VerificationError",
    "calibrate",
    "convert",
    "disable_log",
    "dynamo_export",
    "enable_fake_mode",
    "enable_log",
    "export",
    "export_to_pretty_string",
    "is_in_onnx_export",
    "optimize",
    "quantize",
    "register_custom_op_symbolic",
    "select_model_mode_for_export",
    "set_num_threads",
    "unconvertible_ops",
    "unregister_custom_op_symbolic",
    "verification",
    "view",
]

_HOME = {
    "DiagnosticOptions": "_legacy.diagnostic_options",
    "ExportOptions": "_legacy.options",
    "ExportOutput": "_model.program",
    "ExportOutputSerializer": "_legacy.dynamo_export",
    "ExportableModule": "_export.exportable",
    "FXGraphExtractor": "_legacy.graph_extractor",
    "InputObserver": "_export.observer",
    "JitScalarType": "_translate.scalar_types",
    "ONNXFakeContext": "_capture.fake_mode",
    "ONNXFunction": "_translate.registry",
    "ONNXProgram": "_model.program",
    "ONNXRuntimeOptions": "_runtime.options",
    "OnnxRegistry": "_translate.registry",
    "OperatorExportTypes": "_base.enumerators",
    "OptimizationReport": "_optimize.report",
    "Optimized": "_optimize.optimize",
    "Precision": "_optimize.precision",
    "QuantizationReport": "_quantize.report",
    "Quantized": "_quantize.quantize",
    "Statistics": "_quantize.calibrate",
    "TensorProtoDataType": "_base.enumerators",
    "TrainingMode": "_base.enumerators",
    "calibrate": "_quantize.calibrate",
    "convert": "_export.convert",
    "disable_log": "_base.log",
    "dynamo_export": "_legacy.dynamo_export",
    "enable_fake_mode": "_capture.fake_mode",
    "enable_log": "_base.log",
    "export": "_export.export",
    "export_to_pretty_string": "_legacy.inspection",
    "is_in_onnx_export": "_base.state",
    "optimize": "_optimize.optimize",
    "quantize": "_quantize.quantize",
    "register_custom_op_symbolic": "_translate.symbolic_functions",
    "select_model_mode_for_export": "_capture.patches.modes",
    "set_num_threads": "_base.threads",
    "unconvertible_ops": "_legacy.inspection",
    "unregister_custom_op_symbolic": "_translate.symbolic_functions",
    "view": "_model.view",
}
# Modules that are imported when they are first used.
_MODULES = (
    "errors",
    "hf",
    "op",
    "operators",
    "ops",
    "symbolic_helper",
    "transformers",
    "utils",
    "verification",
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("._native", __name__).version
    if name in _MODULES:
        return _imported("." + name, name)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_imported("." + _HOME.get(name, "_base.errors"), name), name)
    globals()[name] = value
    return value


def _imported(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module, __name__)
    except ModuleNotFoundError as error:
        from ._base.packages import needing_torch

        return needing_torch(f"{__name__}", error)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, "__version__"})
