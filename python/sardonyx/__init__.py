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
    from ._program import ONNXProgram
    from ._runtime_options import ONNXRuntimeOptions
    from ._state import is_in_onnx_export

__all__ = [
    "CaptureError",
    "ConversionError",
    "Diagnostic",
    "ONNXProgram",
    "ONNXRuntimeOptions",
    "OnnxExporterError",
    "ProgramError",
    "SaveError",
    "UnsupportedOperatorError",
    "UsageError",
    "VerificationError",
    "convert",
    "export",
    "is_in_onnx_export",
]

_HOME = {
    "ONNXProgram": "_program",
    "ONNXRuntimeOptions": "_runtime_options",
    "convert": "_export",
    "export": "_export",
    "is_in_onnx_export": "_state",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("._native", __name__).version
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module("." + _HOME.get(name, "_errors"), __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
