"""Functions of the older exporter's module `utils`."""

from ._base.state import is_in_onnx_export
from ._capture.modes import select_model_mode_for_export
from ._older.inspection import export_to_pretty_string, unconvertible_ops

__all__ = [
    "export_to_pretty_string",
    "is_in_onnx_export",
    "select_model_mode_for_export",
    "unconvertible_ops",
]
