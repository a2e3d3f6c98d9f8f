"""The options and enumerators of the exporter's several interfaces."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._diagnostic_options import DiagnosticOptions
    from ._fake_mode import ONNXFakeContext
    from ._registry import OnnxRegistry


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


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of `dynamo_export`.

    - `dynamic_shapes`: True: every dimension of every input may change; False or None: none does.
    - `fake_context`: what `enable_fake_mode` gave.
    - `onnx_registry`: translators of the user's own, and the version of ONNX's operators.
    - `diagnostic_options`: what is told, and what is an error.
    """

    dynamic_shapes: bool | None = None
    fake_context: ONNXFakeContext | None = None
    onnx_registry: OnnxRegistry | None = None
    diagnostic_options: DiagnosticOptions | None = None
