"""Compares exported models with eager PyTorch, through ONNX Runtime.

Tests use `assert_exports`; the modules below it are its parts:

- `interface`: which leaves of nested arguments and results are inputs and outputs of the model
- `runtime`: runs a model on PyTorch tensors
- `comparison`: when an answer counts as eager PyTorch's
- `wellformed`: what must be true of a model before it runs
"""

from __future__ import annotations

from sardonyx._compare.tolerances import Tolerance

from .comparison import difference
from .exporting import Calls, Exported, Inputs, assert_exports, capture, export
from .interface import model_inputs, model_outputs
from .runtime import Session
from .wellformed import assert_wellformed

__all__ = [
    "Calls",
    "Exported",
    "Inputs",
    "Session",
    "Tolerance",
    "assert_exports",
    "assert_wellformed",
    "capture",
    "difference",
    "export",
    "model_inputs",
    "model_outputs",
]
