"""Inputs of a program, as the reader of archives has them told: "x:float32[batch,3]"."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from sardonyx._capture.shapes.dim_spec import SCALAR, Leaf
from sardonyx._torch_private import pytree

_SCALARS = {bool: "bool", int: "int", float: ""}
# Where the model is to take floats as the older exporter's do.
_DOUBLE = "double"


class ExampleParameter(NamedTuple):
    """A parameter of forward() with its example."""

    name: str
    value: Any
    # As TorchScript declares it ("Optional[float]"); empty where it declares nothing.
    declared: str = ""


class InputSpecs:
    """Inputs as the native reader takes them ("x:float32[batch,3]"), with their values.

    `leaves`: what is asked of the dimensions, for each leaf of all values in order."""

    def __init__(self, leaves: Sequence[Leaf], *, doubles: bool = False) -> None:
        self._leaves = iter(leaves)
        self._float = _DOUBLE if doubles else "float"
        # The values that vary, and those that are constants, in order: (name, value, varies).
        self.parts: list[tuple[str, Any, bool]] = []

    def of(self, given: ExampleParameter) -> str:
        """The text of one parameter. TypeError for a value that no program takes."""
        return f"{given.name}:{self._value(given.name, given.value, given.declared)}"

    def _value(self, name: str, value: Any, declared: str = "") -> str:
        if isinstance(value, Mapping):
            parts = (
                f"{_key(key)}: {self._value(f'{name}_{key}', item)}" for key, item in value.items()
            )
            return "{" + ", ".join(parts) + "}"
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            fields = zip(value._fields, value, strict=True)
            parts = (f"{field}: {self._value(f'{name}_{field}', item)}" for field, item in fields)
            return "(" + ", ".join(parts) + ")"
        if isinstance(value, (tuple, list)):
            items = ", ".join(self._value(f"{name}_{i}", item) for i, item in enumerate(value))
            return f"[{items}]" if isinstance(value, list) else f"({items})"
        return self._leaf(name, value, declared)

    def _leaf(self, name: str, value: Any, declared: str) -> str:
        dims = wanted.dims if (wanted := next(self._leaves, None)) is not None else {}
        is_constant = value is None or isinstance(value, str)
        self.parts += _parts(name, value, varies=not is_constant)
        if isinstance(value, torch.Tensor):
            sizes: list[str] = [str(size) for size in value.shape]
            for axis, each in dims.items():
                if axis != SCALAR and -len(sizes) <= axis < len(sizes):
                    known = each.name or f"{name}_dim_{axis % len(sizes)}"
                    sizes[axis] = known if known.isidentifier() else json.dumps(known)
            text = f"{str(value.dtype).removeprefix('torch.')}[{', '.join(sizes)}]"
            has_wide_parts = value.is_quantized and self._float == _DOUBLE
            return text + (f"@{_DOUBLE}" if has_wide_parts else "") + _layout(value)
        if value is None:
            return "None"
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
        if type(value) in _SCALARS:
            wants_float = type(value) is int and "float" in declared
            return self._float if wants_float or type(value) is float else _SCALARS[type(value)]
        raise TypeError(f"'{name}' is a {type(value).__name__}, which TorchScript does not take")


def _parts(name: str, value: Any, *, varies: bool) -> list[tuple[str, Any, bool]]:
    if isinstance(value, torch.Tensor) and value.is_quantized:
        return [(name + suffix, value, True) for suffix in PARTS_OF_QUANTIZED]
    return [(name, value, varies)]


# What a model takes for a quantized tensor: its integers, their scale and zero point.
PARTS_OF_QUANTIZED = ("", "_scale", "_zero_point")


def parts_of(leaf: Any) -> int:
    """How many inputs of a model a tensor is; 0 of what is none."""
    if not isinstance(leaf, torch.Tensor):
        return 0
    return len(PARTS_OF_QUANTIZED) if leaf.is_quantized else 1


def _layout(tensor: torch.Tensor) -> str:
    """How it lies in memory, where rows do not lie one behind the other."""
    if tensor.layout is not torch.strided or tensor.is_contiguous():
        return ""
    dims = zip(tensor.shape, tensor.stride(), strict=True)
    return f"@[{', '.join(f'{size}:{stride}' for size, stride in dims)}]"


def text_of_default(name: str, value: Any, weights: dict[str, torch.Tensor]) -> str:
    """Of a parameter that is left out, with the default of it; a tensor is one of `weights`."""
    if not isinstance(value, torch.Tensor):
        return f"{name}:{_constant(value)}"
    known = f"{name}_default"
    while known in weights:
        known += "_"
    weights[known] = value
    return f"{name}:${known}"


def _constant(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (tuple, list)):
        items = ", ".join(map(_constant, value))
        return f"[{items}]" if isinstance(value, list) else f"({items})"
    return "None" if value is None else f"={value!r}"


def _key(key: Any) -> str:
    return json.dumps(key, ensure_ascii=False) if isinstance(key, str) else str(key)


def leaves_by_parameter(
    bound: Mapping[str, Any], kwargs: Mapping[str, Any], leaves: Sequence[Leaf]
) -> Iterator[Leaf]:
    """The leaves of (args, kwargs) in the order of the parameters."""
    rest = iter(leaves)
    by_name = {
        name: [next(rest, Leaf("", {})) for _ in pytree.tree_leaves(bound[name])]
        for name in (*(n for n in bound if n not in kwargs), *kwargs)
    }
    for name in bound:
        yield from by_name[name]
