"""ONNX Runtime, where it is installed."""

from __future__ import annotations

from typing import Any

from sardonyx._base.errors import OnnxExporterError


def onnxruntime() -> Any:
    """The module; OnnxExporterError when it is not installed."""
    try:
        import onnxruntime as module
    except ImportError as error:
        raise OnnxExporterError(
            "running a model needs ONNX Runtime: pip install onnxruntime"
        ) from error
    return module
