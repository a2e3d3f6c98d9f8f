"""Errors and warnings, under the names that torch.onnx.errors has for them."""

from ._base.errors import (
    OnnxExporterError,
    OnnxExporterWarning,
    SymbolicValueError,
    UnsupportedOperatorError,
    UntestedReleaseWarning,
)

__all__ = [
    "OnnxExporterError",
    "OnnxExporterWarning",
    "SymbolicValueError",
    "UnsupportedOperatorError",
    "UntestedReleaseWarning",
]
