"""ONNX operators for translators: `op.Relu(x)`, `op.Gather(x, indices, axis=1)`.

    from . import op

    def translate_gelu(x, approximate="none"):
        return op.Mul(x, op.Sigmoid(op.Mul(x, 1.702)))

    sardonyx.export(..., custom_translation_table={torch.ops.aten.gelu.default: translate_gelu})

Inputs are values of the graph, in ONNX's order or by name; None for omitted ones; numbers, lists of
numbers, tensors and arrays become constants, numbers in the type of the operand beside them.
Attributes go by name. An operator gives one value, or a tuple of as many as it must have or
`_outputs` asks for. The operators of another domain:

    contrib = op.domain("com.microsoft", 1)
    y = contrib.FusedMatMul(a, b, transA=1)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._translate.operators import Domain, call, domain

__all__ = ["Domain", "call", "domain"]

_ONNX = Domain("")


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _ONNX.__getattr__(name)
