"""What the arguments of symbolic functions are to be."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sardonyx._base.errors import OnnxExporterError

from .symbolic_graph import GraphValue, tensor_of

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "i": int,
    "f": float,
    "b": bool,
    "s": str,
    "is": lambda items: [int(item) for item in items],
    "fs": lambda items: [float(item) for item in items],
}
_KINDS = (*_CONVERSIONS, "v", "none", "t")


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Says what the arguments of a symbolic function are to be: "v" a value of the graph, "i", "f",
    "b", "s", "t" a number, bool, string or tensor known at export, "is", "fs" lists of those,
    "none" whatever it is.

    Raises ValueError for other descriptors; the function raises OnnxExporterError for an argument
    that is computed in the model where a known one is needed.
    """
    unknown = [kind for kind in arg_descriptors if kind not in _KINDS]
    if unknown:
        raise ValueError(f"parse_args knows {', '.join(_KINDS)}, not {', '.join(unknown)}")

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def with_parsed(g: Any, *args: Any, **kwargs: Any) -> Any:
            values = [
                parsed(
                    kind, value, f"argument {index} of the symbolic function {function.__name__}"
                )
                for index, (kind, value) in enumerate(zip(arg_descriptors, args, strict=False))
            ]
            return function(g, *values, **kwargs)

        with_parsed._arg_descriptors = arg_descriptors  # type: ignore[attr-defined]
        return with_parsed

    return decorator


def is_known(value: GraphValue) -> bool:
    """Whether a value of the graph is known at export."""
    return value.native.elements is not None


def parsed(kind: str, value: Any, of: str) -> Any:
    """An argument as parse_args's descriptor has it. Raises OnnxExporterError, with what it is an
    argument of, where the model computes what has to be known."""
    if (
        value is None
        or kind in ("v", "none")
        or (kind == "t" and not isinstance(value, GraphValue))
    ):
        return value
    if isinstance(value, GraphValue):
        elements = value.native.elements
        if elements is None:
            raise OnnxExporterError(f"{of} must be known at export, and the model computes it")
        if kind == "t":
            return tensor_of(value)
        value = elements if kind in ("is", "fs") else elements[0]
    return _CONVERSIONS[kind](value)
