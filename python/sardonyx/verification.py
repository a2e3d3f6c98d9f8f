"""Compares models with PyTorch: as a whole, value by value, and down to the part that is at fault.

infos = verify_onnx_program(program, compare_intermediates=True)
find_mismatch(model, args).pretty_print_tree()
"""

from ._compare.comparison import Comparison
from ._compare.differences import VerificationInfo
from ._compare.node_data import save_node_data_from_verification_info
from ._compare.options import OnnxBackend, VerificationOptions
from ._debugging.graph_info import GraphInfo, find_mismatch
from ._debugging.verification import verify, verify_onnx_program

__all__ = [
    "Comparison",
    "GraphInfo",
    "OnnxBackend",
    "VerificationInfo",
    "VerificationOptions",
    "find_mismatch",
    "save_node_data_from_verification_info",
    "verify",
    "verify_onnx_program",
]
