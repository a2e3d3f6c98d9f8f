"""Weights that torchao quantized: the metadata of each in the header of a safetensors file, and
the dequantized values of its tensors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import torch

from sardonyx import _native
from sardonyx._model.weight_files import WeightInFile

from .packed import CodedWeight, group_sizes, grouped
from .weights import mapped

# What is behind the name of a layer, in names of tensors.
SUFFIXES = tuple(
    f"_weight_{name}"
    for name in (
        "qdata", "scale", "zero_point", "act_pre_scale", "act_quant_scale", "act_quant_zero_point",
    )
)  # fmt: skip
MARK = "_weight_qdata"


def described(paths: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What the headers of safetensors files tell of weights, by their names: torchao's class, and
    its attributes."""
    found: dict[str, dict[str, Any]] = {}
    for name, text in _native.safetensors_metadata(list(dict.fromkeys(paths))):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "_type" in value:
            found[name] = value
    return found


def decoded(settings: dict[str, Any], held: dict[str, WeightInFile]) -> CodedWeight:
    """The weight; ValueError for classes that are not read. `settings` has what was described."""
    if "_weight_act_pre_scale" in held:
        raise ValueError("what a layer is given is scaled before it, which is not read")
    kind = settings.get("_type")
    codes, scale = held[MARK], mapped(held["_weight_scale"])
    zeros = mapped(held["_weight_zero_point"]) if "_weight_zero_point" in held else None
    if kind == "Int4Tensor":
        return _int4(codes, scale, zeros)
    if kind not in ("Int8Tensor", "Float8Tensor", "IntxUnpackedToInt8Tensor"):
        raise ValueError(f"a tensor of the class {kind}, which is not read")
    return grouped(codes, scale, zeros)


def _int4(codes: WeightInFile, scale: torch.Tensor, zeros: torch.Tensor | None) -> CodedWeight:
    """Codes [out, in / 2] of four bits from -8 on, the first of two in the lower bits, and scales
    and what a code of 0 stands for [groups, out]."""
    rows, half = codes.dims
    numbers = torch.tensor([*range(8), *range(-8, 0)], dtype=torch.float32)
    scales, dims = scale.T, [rows, 2 * half]
    each = group_sizes(scales, dims)
    offsets = None if zeros is None else zeros.T
    return CodedWeight(codes, scales, *each, dims, offsets=offsets, bits=4, table=numbers)
