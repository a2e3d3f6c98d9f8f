"""How a model is to be compared with PyTorch."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

from .tensors import difference
from .tolerances import Tolerance


class OnnxBackend(enum.Enum):
    """What runs the ONNX model."""

    REFERENCE = "ONNXReferenceEvaluator"
    ONNX_RUNTIME_CPU = "CPUExecutionProvider"
    ONNX_RUNTIME_CUDA = "CUDAExecutionProvider"


@dataclasses.dataclass
class VerificationOptions:
    """How a model is compared with PyTorch.

    Attributes:
        flatten: unpack nested inputs into the model's flat ones; a converted model has no others.
        ignore_none: leave None out of PyTorch's outputs; False refuses models that return it.
        check_shape: whether shapes must be equal, not only broadcast to each other.
        check_dtype: whether element types must be equal.
        backend: what runs the model.
        rtol, atol: relative and absolute tolerance.
        remained_onnx_input_idx: the inputs that the model is given, where it has not all of them.
        acceptable_error_percentage: the share of elements, 0.0 to 1.0, that may differ.
    """

    flatten: bool = True
    ignore_none: bool = True
    check_shape: bool = True
    check_dtype: bool = True
    backend: OnnxBackend = OnnxBackend.ONNX_RUNTIME_CPU
    rtol: float = 1e-3
    atol: float = 1e-7
    remained_onnx_input_idx: Sequence[int] | None = None
    acceptable_error_percentage: float | None = None

    def check(self) -> None:
        """ValueError for what cannot be meant."""
        share = self.acceptable_error_percentage
        if share is not None and not 0.0 <= share <= 1.0:
            raise ValueError("If set, acceptable_error_percentage should be between 0.0 and 1.0")

    def difference(self, actual: Any, expected: Any) -> str | None:
        """How a value differs from PyTorch's, or None."""
        return difference(
            actual,
            expected,
            Tolerance(self.rtol, self.atol),
            check_shape=self.check_shape,
            check_dtype=self.check_dtype,
            acceptable=self.acceptable_error_percentage or 0.0,
        )
