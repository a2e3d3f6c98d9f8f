"""What ONNX Runtime registers: its kernels and the schemas of its operators.

Both are private API of the package onnxruntime, which is reached here and nowhere else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from sardonyx._base.errors import OnnxExporterError, refusal
from sardonyx._base.packages import package

# Where the extension module is, and has been.
_EXTENSIONS = (
    "onnxruntime.capi.onnxruntime_pybind11_state",
    "onnxruntime.capi._pybind_state",
)


def kernels() -> list[Any]:
    """Each has op_name, domain, version_range, provider and type_constraints."""
    return list(_private("get_all_opkernel_def")())


def schemas() -> list[Any]:
    """OpSchemas as those of onnx.defs, of every domain that it registers."""
    return list(_private("get_all_operator_schema")())


def _private(name: str) -> Callable[[], Any]:
    """A function of the extension module; SX1016 where this release has none of that name."""
    ort = package("onnxruntime", "the table of its kernels")
    for module in _EXTENSIONS:
        try:
            found: Callable[[], Any] | None = getattr(importlib.import_module(module), name, None)
        except ImportError:
            continue
        if found is not None:
            return found
    raise refusal(
        "SX1016",
        f"ONNX Runtime {ort.__version__} has no {name}, which lists what it registers",
        "",
        OnnxExporterError,
    )
