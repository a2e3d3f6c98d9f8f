"""Enumerators that several interfaces of the exporter take."""

from __future__ import annotations

import enum


class TrainingMode(enum.IntEnum):
    """The mode that a model is exported in."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.IntEnum):
    """What becomes of operators that have no translation.

    - ONNX: they are an error.
    - ONNX_ATEN, ONNX_ATEN_FALLBACK: those of ATen become nodes org.pytorch.aten::ATen that name
      them in an attribute, others nodes of their own name.
    - ONNX_FALLTHROUGH: they become nodes of their own name, as aten::foo.
    """

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3
