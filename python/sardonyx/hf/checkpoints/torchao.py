"""Weights that torchao quantized: the metadata of each in the header of a safetensors file, and
the dequantized values of its tensors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import torch

from .packed import spread, unpacked

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
    from safetensors import safe_open

    found: dict[str, dict[str, Any]] = {}
    for path in dict.fromkeys(paths):
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
        for name, text in metadata.items():
            try:
                value = json.loads(text)
            except ValueError:
                continue
            if isinstance(value, dict) and "_type" in value:
                found[name] = value
    return found


def decoded(settings: dict[str, Any], held: dict[str, torch.Tensor]) -> torch.Tensor:
    """The weight; ValueError for classes that are not read. `settings` has what was described."""
    if "_weight_act_pre_scale" in held:
        raise ValueError("what a layer is given is scaled before it, which is not read")
    kind = settings.get("_type")
    codes, scale = held[MARK], held["_weight_scale"]
    zeros = held.get("_weight_zero_point")
    if kind == "Int4Tensor":
        return _int4(codes, scale, zeros)
    if kind not in ("Int8Tensor", "Float8Tensor", "IntxUnpackedToInt8Tensor"):
        raise ValueError(f"a tensor of the class {kind}, which is not read")
    numbers = codes.float()
    if zeros is not None:
        numbers = numbers - spread(zeros, codes.shape)
    return numbers * spread(scale, codes.shape)


def _int4(codes: torch.Tensor, scale: torch.Tensor, zeros: torch.Tensor | None) -> torch.Tensor:
    """Codes [out, in / 2] of four bits from -8 on, the first of two in the lower bits, and scales
    and what a code of 0 stands for [groups, out]."""
    numbers = unpacked(codes, 4, 1)
    numbers = (numbers - 16 * (numbers > 7)).float()
    made = numbers * spread(scale.T, numbers.shape)
    return made if zeros is None else made + spread(zeros.T, numbers.shape)
