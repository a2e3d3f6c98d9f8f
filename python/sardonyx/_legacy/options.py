"""Options of `dynamo_export`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sardonyx._capture.fake_mode import ONNXFakeContext
    from sardonyx._translate.registry import OnnxRegistry

    from .diagnostic_options import DiagnosticOptions


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of `dynamo_export`.

    - `dynamic_shapes`: True: every dimension of every input may change; False or None: none does.
    - `fake_context`: what `enable_fake_mode` gave.
    - `onnx_registry`: custom translators, and the version of ONNX's operators.
    - `diagnostic_options`: what is reported, and what is an error.
    """

    dynamic_shapes: bool | None = None
    fake_context: ONNXFakeContext | None = None
    onnx_registry: OnnxRegistry | None = None
    diagnostic_options: DiagnosticOptions | None = None
