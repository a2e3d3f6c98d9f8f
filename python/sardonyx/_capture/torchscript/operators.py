"""Operators that PyTorch knows and the reader of TorchScript does not: the user's own, and those
whose results no rule tells."""

from __future__ import annotations

from typing import Any

import torch

from sardonyx._base.element_types import onnx_number, torch_dtypes
from sardonyx._base.overloads import overload_of
from sardonyx._torch_private import operators, pytree, torchscript


class Operators:
    """Asked by the native reader while it reads (python/bindings/operator_source.h)."""

    def schemas(self, op: str) -> list[str]:
        """Of the overloads of "mylib::op"; none where PyTorch has no such operator."""
        return [str(schema) for schema in torchscript.schemas_of(op)]

    def results(self, op: str, arguments: list[Any]) -> list[tuple[int, list[int]]] | None:
        """(ONNX's element type, sizes) of each tensor that "mylib::op.overload" gives, by its
        kernel for tensors without data; None where it has none, or refuses these arguments.

        `arguments`: one for each of the schema's, tensors as ("tensor", element type, sizes), data
        types as ("dtype", element type).
        """
        overload = overload_of(op)
        if overload is None:
            return None
        try:
            given = [_argument(each) for each in arguments]
            parameters = operators.schema_of(overload).arguments
            positional = [v for v, p in zip(given, parameters, strict=True) if not p.kwarg_only]
            named = {p.name: v for v, p in zip(given, parameters, strict=True) if p.kwarg_only}
            with torch.no_grad():
                result = overload(*positional, **named)
            tensors = [t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
            return [(onnx_number(tensor.dtype), list(tensor.shape)) for tensor in tensors]
        except Exception:  # the kernel is the user's, and may raise anything
            return None


def _argument(argument: Any) -> Any:
    if isinstance(argument, tuple):
        kind, number, *sizes = argument
        dtype = torch_dtypes()[number]
        return dtype if kind == "dtype" else torch.empty(sizes[0], dtype=dtype, device="meta")
    return [_argument(each) for each in argument] if isinstance(argument, list) else argument
