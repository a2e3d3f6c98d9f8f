"""Checkpoints that are quantized already: GPTQ, AWQ, float8, compressed-tensors, bitsandbytes,
mxfp4, torchao.

Every layer has its weight as several tensors: codes, scales, zero points. They are made one float32
matrix again, one layer at a time, exactly: a weight is a small number times a scale. Codes of four
bits are found again in these where a model is written in int4, so that nothing is rounded twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from sardonyx._base.errors import refusal
from sardonyx._model.weight_files import WeightInFile
from sardonyx._optimize.precision import Precision

from . import torchao
from .derived_weights import kept
from .packed import AWQ_ORDER, float4, power_of_two, spread, unpacked
from .weights import mapped

Tensors = dict[str, torch.Tensor]
# Settings and the tensors of a layer, by what stands behind its name, to its weight [out, in].
Decoder = Callable[[dict[str, Any], Tensors], torch.Tensor]


@dataclass
class Quantized:
    """What a checkpoint holds in few bits.

    Attributes:
        weights: all of its tensors, those in few bits as float32 in files of their own.
        names: the weights among them that were in few bits.
        bits, group: of their codes, where all have the same; 0 otherwise. A group of 0 is a row.
        symmetric: whether codes have their zero in the middle.
    """

    weights: list[WeightInFile]
    names: list[str] = field(default_factory=list)
    bits: int = 0
    group: int = 0
    symmetric: bool = True

    def notes(self) -> list[str]:
        """What is worth knowing of it."""
        return [f"{len(self.names)} weights of the checkpoint were in few bits, and were unpacked"]

    def precision(self, wanted: Precision) -> Precision:
        """`wanted`, of four bits, in the checkpoint's own groups, for what it has in four bits."""
        is_plain = wanted == Precision(wanted.to, io=wanted.io) and "int4" in wanted.to
        if not is_plain or self.bits != 4 or self.group not in (16, 32, 64, 128):
            return wanted
        return replace(wanted, block_size=self.group, symmetric=self.symmetric)


def decoded(in_files: Iterable[WeightInFile], settings: dict[str, Any], scratch: Path) -> Quantized:
    """The tensors of a checkpoint whose `quantization_config` is `settings`; what is computed is
    written to the folder `scratch`. SX2001 for methods that are not read."""
    method = str(settings.get("quant_method"))
    reader = _READERS.get(method)
    if reader is None:
        raise refusal(
            "SX2001",
            f"the weights are quantized already, by {method}, which is not read",
            f"export the checkpoint that was quantized; {', '.join(sorted(_READERS))} are read",
        )
    in_files = list(in_files)
    layers, plain = _layers(in_files, reader)
    told = torchao.described(weight.path for weight in in_files) if method == "torchao" else {}
    made = Quantized(plain, bits=reader.bits(settings), group=reader.group(settings))
    for number, (layer, held) in enumerate(layers.items()):
        tensors = {suffix: mapped(weight) for suffix, weight in held.items()}
        try:
            weight = reader.decode(settings | told.get(layer + reader.made, {}), tensors)
        except (KeyError, RuntimeError, ValueError) as error:
            raise refusal(
                "SX2004",
                f"'{layer}' is no layer of {method}: {type(error).__name__}: {error}",
                f"it has {', '.join(f'{k} {list(v.shape)}' for k, v in sorted(tensors.items()))}",
            ) from error
        made.symmetric &= reader.symmetric(settings, tensors)
        name = layer + reader.made
        made.weights += kept({name: weight}, scratch / f"quantized-{number}.safetensors")
        made.names.append(name)
    return made


def _layers(
    in_files: Iterable[WeightInFile], reader: _Reader
) -> tuple[dict[str, dict[str, WeightInFile]], list[WeightInFile]]:
    """The tensors of each layer that has one of the reader's marks, and all others."""
    found: dict[str, dict[str, WeightInFile]] = {}
    others: list[WeightInFile] = []
    for weight in in_files:
        ends = (s for s in reader.suffixes if weight.name.endswith(reader.joint + s))
        ending = next(ends, None)
        if ending is None:
            others.append(weight)
        else:
            layer = weight.name.removesuffix(reader.joint + ending)
            found.setdefault(layer, {})[ending] = weight
    layers = {n: held for n, held in found.items() if any(mark in held for mark in reader.marks)}
    others += [w for name, held in found.items() if name not in layers for w in held.values()]
    return layers, others


def _bits(settings: dict[str, Any]) -> int:
    return int(settings.get("bits") or settings.get("w_bit") or 4)


def _group_size(settings: dict[str, Any]) -> int:
    return max(0, int(settings.get("group_size") or settings.get("q_group_size") or 0))


def _gptq(settings: dict[str, Any], held: Tensors) -> torch.Tensor:
    """Codes [in / 8, out], zero points [groups, out / 8], one less than they are in the first
    format, and of each column its group."""
    bits = _bits(settings)
    codes = unpacked(held["qweight"], bits, 0)
    zeros = unpacked(held["qzeros"], bits, 1)
    zeros = zeros + (0 if settings.get("checkpoint_format") == "gptq_v2" else 1)
    scales = held["scales"].float()
    size = _group_size(settings) or codes.shape[0]
    groups = held.get("g_idx", torch.arange(codes.shape[0]) // size).long()
    return ((codes - zeros[groups]).float() * scales[groups]).T


def _awq(settings: dict[str, Any], held: Tensors) -> torch.Tensor:
    """Codes [in, out / 8] and zero points [groups, out / 8], their columns in an order of AWQ's."""
    bits = _bits(settings)
    codes = unpacked(held["qweight"], bits, 1, AWQ_ORDER)
    zeros = unpacked(held["qzeros"], bits, 1, AWQ_ORDER)
    scales = held["scales"].float()
    each = codes.shape[0] // scales.shape[0]
    zeros, scales = zeros.repeat_interleave(each, 0), scales.repeat_interleave(each, 0)
    return ((codes - zeros).float() * scales).T


def _zeros_in_the_middle(settings: dict[str, Any], held: Tensors) -> bool:
    order = AWQ_ORDER if settings.get("quant_method") == "awq" else None
    bits = _bits(settings)
    zeros = unpacked(held["qzeros"], bits, 1, order)
    first = settings.get("quant_method") == "gptq"
    zeros = zeros + (first and settings.get("checkpoint_format") != "gptq_v2")
    return bool((zeros == 1 << (bits - 1)).all())


def _scaled(settings: dict[str, Any], held: Tensors) -> torch.Tensor:
    """float8, or int8, times the scale of the matrix, the row, the group or the block."""
    weight = held["weight"].float()
    scale = held.get("weight_scale_inv", held.get("weight_scale"))
    if scale is None:
        raise KeyError("weight_scale")
    if (zeros := held.get("weight_zero_point")) is not None:
        weight = weight - spread(zeros, weight.shape)
    block = settings.get("weight_block_size") if scale.dim() == 2 else None
    return weight * spread(scale, weight.shape, block)


def _compressed(settings: dict[str, Any], held: Tensors) -> torch.Tensor:
    """compressed-tensors: as float8 or int8, or codes of a few bits that are packed along rows."""
    if "weight_packed" not in held:
        return _scaled(settings, held)
    packed, scales = held["weight_packed"], held["weight_scale"].float()
    rows, columns = (int(size) for size in held["weight_shape"])
    bits = packed.element_size() * 8 * packed.shape[1] // columns
    half = 1 << (bits - 1)
    codes = (unpacked(packed, bits, 1)[:rows, :columns] - half).float()
    groups = held.get("weight_g_idx", torch.arange(columns) // -(-columns // scales.shape[1]))
    groups = groups.long()
    if (zeros := held.get("weight_zero_point")) is not None:
        packs = zeros.dtype == torch.int32
        zeros = unpacked(zeros, bits, 0)[:rows] - half if packs else zeros
        codes = codes - zeros[:, groups].float()
    return codes * scales[:, groups]


def _compressed_args(settings: dict[str, Any]) -> dict[str, Any]:
    groups = list((settings.get("config_groups") or {}).values())
    return (groups[0].get("weights") or {}) if groups else {}


def _bitsandbytes(_: dict[str, Any], held: Tensors) -> torch.Tensor:
    """Rows of int8 with a scale each, or a table of sixteen numbers with a scale for each block,
    which may itself be a code."""
    if (rows := held.get("SCB")) is not None:
        return held["weight"].float() * (rows.float() / 127).unsqueeze(-1)
    state = next(v for k, v in held.items() if k.startswith("weight.quant_state"))
    told = json.loads(bytes(state.tolist()))
    scales = held["weight.absmax"]
    if "weight.nested_absmax" in held:
        outer = held["weight.nested_absmax"].float()
        outer = outer.repeat_interleave(told["nested_blocksize"])[: scales.numel()]
        scales = held["weight.nested_quant_map"].float()[scales.long()] * outer
        scales = scales + told["nested_offset"]
    # The first of two codes is in the upper bits.
    codes = unpacked(held["weight"].flatten(), 4, 0).unflatten(0, (-1, 2)).flip(-1).flatten()
    values = held["weight.quant_map"].float()[codes]
    values = values[: torch.Size(told["shape"]).numel()]
    each = scales.float().repeat_interleave(told["blocksize"])[: values.numel()]
    return (values * each).reshape(told["shape"])


def _mxfp4(_: dict[str, Any], held: Tensors) -> torch.Tensor:
    """Codes [.., out, in / 32, 16] of float4, two in a byte, and for each 32 a power of two, which
    are a matrix [.., in, out]."""
    codes = unpacked(held["blocks"], 4, -1)
    made = float4(codes) * power_of_two(held["scales"]).unsqueeze(-1)
    return made.flatten(-2).transpose(-1, -2)


@dataclass(frozen=True)
class _Reader:
    suffixes: tuple[str, ...]
    # A layer has one of these.
    marks: tuple[str, ...]
    decode: Decoder
    bits: Callable[[dict[str, Any]], int] = field(default=lambda _: 0)
    group: Callable[[dict[str, Any]], int] = field(default=lambda _: 0)
    symmetric: Callable[[dict[str, Any], Tensors], bool] = field(default=lambda *_: True)
    # Between a layer's name and the suffixes, and behind it in the name of its weight.
    joint: str = "."
    made: str = ".weight"


_OF_TABLES = tuple(
    f"weight.{name}"
    for name in (
        "absmax", "quant_map", "nested_absmax", "nested_quant_map",
        "quant_state.bitsandbytes__nf4", "quant_state.bitsandbytes__fp4",
    )
)  # fmt: skip
_IN_GROUPS = ("qweight", "qzeros", "scales", "g_idx")
_READERS = {
    "awq": _Reader(
        _IN_GROUPS, ("qweight",), _awq, _bits, _group_size, _zeros_in_the_middle
    ),
    "gptq": _Reader(
        _IN_GROUPS, ("qweight",), _gptq, _bits, _group_size, _zeros_in_the_middle
    ),
    "fp8": _Reader(
        ("weight", "weight_scale_inv", "weight_scale", "input_scale", "activation_scale"),
        ("weight_scale_inv", "weight_scale"),
        _scaled,
    ),
    "compressed-tensors": _Reader(
        ("weight", "weight_packed", "weight_scale", "weight_shape", "weight_zero_point",
         "weight_g_idx", "input_scale", "input_zero_point"),
        ("weight_packed", "weight_scale"),
        _compressed,
        lambda settings: int(_compressed_args(settings).get("num_bits") or 0),
        lambda settings: int(_compressed_args(settings).get("group_size") or 0),
        lambda _, held: "weight_zero_point" not in held,
    ),
    "bitsandbytes": _Reader(
        ("weight", "SCB", "weight_format", *_OF_TABLES), ("SCB", "weight.absmax"), _bitsandbytes
    ),
    "torchao": _Reader(torchao.SUFFIXES, (torchao.MARK,), torchao.decoded),
    "mxfp4": _Reader(("blocks", "scales"), ("blocks",), _mxfp4, joint="_", made=""),
}  # fmt: skip
