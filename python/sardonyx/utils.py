"""Functions of the older exporter's module `utils`."""

from ._base.state import is_in_onnx_export
from ._capture.patches.modes import select_model_mode_for_export
from ._export.export import export
from ._legacy.inspection import export_to_pretty_string, unconvertible_ops
from ._translate.symbolic_functions import (
    register_custom_op_symbolic,
    unregister_custom_op_symbolic,
)

__all__ = [
    "export",
    "export_to_pretty_string",
    "is_in_onnx_export",
    "register_custom_op_symbolic",
    "select_model_mode_for_export",
    "unconvertible_ops",
    "unregister_custom_op_symbolic",
]
