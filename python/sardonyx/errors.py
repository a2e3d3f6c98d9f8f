"""Errors and warnings, those of torch.onnx.errors under the same names."""

from ._base.errors import (
    CaptureError,
    ConversionError,
    LowAccuracyWarning,
    OnnxExporterError,
    OnnxExporterWarning,
    ProgramError,
    SaveError,
    SpecializationWarning,
    SymbolicValueError,
    UnsupportedOperatorError,
    UntestedReleaseWarning,
    UsageError,
    VerificationError,
)

__all__ = [
    "CaptureError",
    "ConversionError",
    "LowAccuracyWarning",
    "OnnxExporterError",
    "OnnxExporterWarning",
    "ProgramError",
    "SaveError",
    "SpecializationWarning",
    "SymbolicValueError",
    "UnsupportedOperatorError",
    "UntestedReleaseWarning",
    "UsageError",
    "VerificationError",
]
