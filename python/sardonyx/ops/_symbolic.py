"""Any ONNX operator as an operator of PyTorch, which computes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from sardonyx._base.element_types import onnx_number, torch_dtypes

Attribute = int | float | str | bool | Sequence[int] | Sequence[float] | Sequence[str]


def symbolic(
    domain_op: str,
    /,
    inputs: Sequence[torch.Tensor | None],
    attrs: Mapping[str, Attribute] | None = None,
    *,
    dtype: torch.dtype | int,
    shape: Sequence[int | torch.SymInt],
    version: int | None = None,
    metadata_props: Mapping[str, str] | None = None,
) -> torch.Tensor:
    """A node of an ONNX operator in the exported model; in eager PyTorch, zeros.

    Best called under `if sardonyx.is_in_onnx_export():`.

    Parameters:
        domain_op: "domain::operator"; "::Relu" is one of ONNX's own.
        inputs: tensors, None for omitted inputs.
        attrs: ints, floats, bools, strings, and lists of one of these.
        dtype, shape: of the output; a torch.dtype or ONNX's number of one, sizes or SymInts.
        version: of the domain's opset; a model imports one version of a domain.
        metadata_props: for the ONNX node.

    Raises ValueError for a `domain_op` without "::" and for other types of attributes, TypeError
    for other types of arguments.
    """
    domain, op_type = _parse(domain_op)
    packed = _Packed.of(attrs)
    result: torch.Tensor = torch.ops.sardonyx.symbolic(
        _listed(inputs),
        domain,
        op_type,
        onnx_number(dtype),
        list(shape),
        packed.names,
        packed.kinds,
        packed.counts,
        packed.ints,
        packed.floats,
        packed.strings,
        *_metadata(metadata_props),
        version,
    )
    return result


def symbolic_multi_out(
    domain_op: str,
    /,
    inputs: Sequence[torch.Tensor | None],
    attrs: Mapping[str, Attribute] | None = None,
    *,
    dtypes: Sequence[torch.dtype | int],
    shapes: Sequence[Sequence[int | torch.SymInt]],
    version: int | None = None,
    metadata_props: Mapping[str, str] | None = None,
) -> Sequence[torch.Tensor]:
    """As `symbolic`, for an operator of several outputs: one of `dtypes` and `shapes` for each."""
    if len(dtypes) != len(shapes):
        raise ValueError(
            f"Number of shapes ({len(shapes)}) must match number of dtypes ({len(dtypes)})"
        )
    if not dtypes:
        raise ValueError("an operator without outputs would not be in the model")
    domain, op_type = _parse(domain_op)
    packed = _Packed.of(attrs)
    result: Sequence[torch.Tensor] = torch.ops.sardonyx.symbolic_multi_out(
        _listed(inputs),
        domain,
        op_type,
        [onnx_number(dtype) for dtype in dtypes],
        [len(shape) for shape in shapes],
        [size for shape in shapes for size in shape],
        packed.names,
        packed.kinds,
        packed.counts,
        packed.ints,
        packed.floats,
        packed.strings,
        *_metadata(metadata_props),
        version,
    )
    return result


def _parse(domain_op: str) -> tuple[str, str]:
    domain, separator, op_type = domain_op.partition("::")
    if not separator or not op_type or "::" in op_type:
        raise ValueError(
            f"domain_op is {domain_op!r}, not 'domain::operator' ('::Relu' for ONNX's own)"
        )
    return domain, op_type


def _listed(inputs: Any) -> list[torch.Tensor | None]:
    if isinstance(inputs, torch.Tensor):  # whose rows would be taken for inputs
        raise TypeError("inputs is a Tensor, not a sequence of tensors: write (x,)")
    return list(inputs)


def _metadata(props: Mapping[str, str] | None) -> tuple[list[str], list[str]]:
    props = props or {}
    return list(props.keys()), list(props.values())


@dataclass
class _Packed:
    """Attributes as lists, which is what graphs of torch.fx can hold: the name and the kind of each
    ("i", "f", "s", and "is", "fs", "ss" for lists), how many values it has, and all values of a
    kind one after the other."""

    names: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    ints: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)

    @staticmethod
    def of(attrs: Mapping[str, Attribute] | None) -> _Packed:
        packed = _Packed()
        for name, value in (attrs or {}).items():
            if not isinstance(name, str):
                raise TypeError(f"attribute names are strings, not {name!r}")
            packed._add(name, value)
        return packed

    def _add(self, name: str, value: Any) -> None:
        is_list = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
        values = list(value) if is_list else [value]
        if not values:
            raise ValueError(f"Empty sequence for attribute {name}")
        kind = _kind(values)
        if kind is None:
            what = "sequence type" if is_list else "attribute type"
            types = ", ".join(sorted({type(item).__name__ for item in values}))
            raise ValueError(f"Unsupported {what} for {name}: {types}")
        self.names.append(name)
        self.kinds.append(kind + "s" if is_list else kind)
        self.counts.append(len(values))
        if kind == "i":
            self.ints += [int(item) for item in values]
        elif kind == "f":
            self.floats += [float(item) for item in values]
        else:
            self.strings += values


def _kind(values: Sequence[Any]) -> str | None:
    if all(isinstance(item, int) for item in values):  # bools are ints
        return "i"
    if all(isinstance(item, (int, float)) for item in values):
        return "f"
    return "s" if all(isinstance(item, str) for item in values) else None


_LIBRARY = torch.library.Library("sardonyx", "FRAGMENT")
_ATTRIBUTES = (
    "str[] attr_names, str[] attr_kinds, int[] attr_counts, int[] attr_ints, float[] attr_floats, "
    "str[] attr_strings, str[] metadata_keys, str[] metadata_values, int? version"
)
_LIBRARY.define(
    "symbolic(Tensor?[] inputs, str domain, str op_type, int onnx_dtype, SymInt[] shape, "
    f"{_ATTRIBUTES}) -> Tensor"
)
_LIBRARY.define(
    "symbolic_multi_out(Tensor?[] inputs, str domain, str op_type, int[] onnx_dtypes, "
    f"int[] ranks, SymInt[] sizes, {_ATTRIBUTES}) -> Tensor[]"
)


def _zeros(inputs: Sequence[Any], dtype: int, shape: Sequence[Any]) -> torch.Tensor:
    device = next((tensor.device for tensor in inputs if tensor is not None), None)
    return torch.zeros(tuple(shape), dtype=torch_dtypes()[dtype], device=device)


def _compute(
    inputs: Sequence[Any], _domain: str, _op: str, dtype: int, shape: Sequence[Any], *_rest: Any
) -> torch.Tensor:
    return _zeros(inputs, dtype, shape)


def _compute_multi_out(
    inputs: Sequence[Any],
    _domain: str,
    _op: str,
    dtypes: Sequence[int],
    ranks: Sequence[int],
    sizes: Sequence[Any],
    *_rest: Any,
) -> list[torch.Tensor]:
    results, start = [], 0
    for dtype, rank in zip(dtypes, ranks, strict=True):
        results.append(_zeros(inputs, dtype, sizes[start : start + rank]))
        start += rank
    return results


for _name, _function in (("symbolic", _compute), ("symbolic_multi_out", _compute_multi_out)):
    _LIBRARY.impl(_name, _function, "CompositeExplicitAutograd")
    torch.library.register_fake(f"sardonyx::{_name}", _function, lib=_LIBRARY)
