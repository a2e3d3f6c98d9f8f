"""Checkpoints that are quantized already: GPTQ, AWQ, float8, compressed-tensors, bitsandbytes,
mxfp4, nvfp4, torchao, modelopt.

Every layer has its weight as several tensors: codes, scales, zero points. They are one float32
matrix for whoever reads it, made exactly as it is read: a weight is a small number times a scale.
Here is said which tensor is what; codes are dequantized natively. Codes of four bits are found
again where a model is written in int4, so that nothing is rounded twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from sardonyx._base.errors import SaveError, refusal
from sardonyx._model.weight_files import WeightInFile
from sardonyx._optimize.precision import Precision

from . import torchao
from .packed import (
    AWQ_ORDER,
    CodedWeight,
    float4_table,
    group_sizes,
    grouped,
    places,
    power_of_two,
    unpacked,
)
from .weights import mapped, reading_files

# The tensors of a layer, by what stands behind its name.
Layer = dict[str, WeightInFile]
# Settings and the tensors of a layer to its weight [out, in].
Decoder = Callable[[dict[str, Any], Layer], CodedWeight]


@dataclass
class QuantizedCheckpoint:
    """A checkpoint with quantized weights.

    Attributes:
        weights: all of its tensors, those in few bits as float32 that is made as it is read.
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


@reading_files()
def decoded(
    in_files: Iterable[WeightInFile], settings: dict[str, Any], scratch: Path
) -> QuantizedCheckpoint:
    """The tensors of a checkpoint whose `quantization_config` is `settings`; scales that
    are computed are written to the folder `scratch`. SX2001 for methods that are not read."""
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
    described = torchao.described(weight.path for weight in in_files) if method == "torchao" else {}
    made = QuantizedCheckpoint(plain, bits=reader.bits(settings), group=reader.group(settings))
    for number, (layer, held) in enumerate(layers.items()):
        name = layer + reader.made
        try:
            coded = reader.decode(settings | described.get(name, {}), held)
            weight = coded.placed(name, scratch / f"scales-{number}.safetensors")
            made.symmetric &= reader.symmetric(settings, held)
        except SaveError:
            raise
        except (KeyError, IndexError, RuntimeError, TypeError, ValueError) as error:
            raise refusal(
                "SX2004",
                f"'{layer}' is no layer of {method}: {type(error).__name__}: {error}",
                f"it has {', '.join(f'{key} {value.dims}' for key, value in sorted(held.items()))}",
            ) from error
        made.weights.append(weight)
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


def _gptq(settings: dict[str, Any], held: Layer) -> CodedWeight:
    """Codes [in / 8, out], zero points [groups, out / 8], one less than they are in the first
    format, and of each column its group."""
    bits = _bits(settings)
    words, columns = held["qweight"].dims
    rows = words * _in_a_word(held["qweight"], bits)
    zeros = unpacked(mapped(held["qzeros"]), bits, 1)
    zeros = zeros + (0 if settings.get("checkpoint_format") == "gptq_v2" else 1)
    groups = mapped(held["g_idx"]) if "g_idx" in held else _group_size(settings) or rows
    return CodedWeight(
        held["qweight"], mapped(held["scales"]), groups, 1, [columns, rows], zeros,
        bits=bits, axis=0, transposed=True,
    )  # fmt: skip


def _awq(settings: dict[str, Any], held: Layer) -> CodedWeight:
    """Codes [in, out / 8] and zero points [groups, out / 8], their columns in an order of AWQ's."""
    bits = _bits(settings)
    rows, words = held["qweight"].dims
    columns = words * _in_a_word(held["qweight"], bits)
    zeros = unpacked(mapped(held["qzeros"]), bits, 1, AWQ_ORDER)
    scales = mapped(held["scales"])
    each, _ = group_sizes(scales, [rows, columns])
    return CodedWeight(
        held["qweight"], scales, each, 1, [columns, rows], zeros,
        bits=bits, order=places(AWQ_ORDER), transposed=True,
    )  # fmt: skip


def _in_a_word(words: WeightInFile, bits: int) -> int:
    return int(8 * getattr(torch, words.dtype).itemsize // bits)


def _zeros_in_the_middle(settings: dict[str, Any], held: Layer) -> bool:
    order = AWQ_ORDER if settings.get("quant_method") == "awq" else None
    bits = _bits(settings)
    zeros = unpacked(mapped(held["qzeros"]), bits, 1, order)
    first = settings.get("quant_method") == "gptq"
    zeros = zeros + (first and settings.get("checkpoint_format") != "gptq_v2")
    return bool((zeros == 1 << (bits - 1)).all())


def _scaled(settings: dict[str, Any], held: Layer) -> CodedWeight:
    """float8, or int8, times the scale of the matrix, the row, the group or the block."""
    found = held.get("weight_scale_inv", held.get("weight_scale"))
    if found is None:
        raise KeyError("weight_scale")
    scale = mapped(found)
    zeros = mapped(held["weight_zero_point"]) if "weight_zero_point" in held else None
    block = settings.get("weight_block_size") if scale.dim() == 2 else None
    return grouped(held["weight"], scale, zeros, block)


def _compressed(settings: dict[str, Any], held: Layer) -> CodedWeight:
    """compressed-tensors: as float8 or int8, codes of a few bits that are packed along rows, or
    float4."""
    if "weight_packed" not in held:
        return _scaled(settings, held)
    packed, scales = held["weight_packed"], mapped(held["weight_scale"])
    if packed.dtype == "uint8":
        return _float4(packed, scales, held)
    rows, columns = (int(size) for size in mapped(held["weight_shape"]))
    bits = 32 * packed.dims[1] // columns
    half = 1 << (bits - 1)
    middle = torch.full_like(scales, half, dtype=torch.float32)
    if "weight_zero_point" in held:
        zeros = mapped(held["weight_zero_point"])
        packs = zeros.dtype == torch.int32
        middle = unpacked(zeros, bits, 0)[:rows] if packs else zeros.float() + half
    groups = mapped(held["weight_g_idx"]) if "weight_g_idx" in held else None
    return CodedWeight(
        packed, scales, 1, -(-columns // scales.shape[1]) if groups is None else groups,
        [rows, columns], middle, bits=bits, width=columns,
    )  # fmt: skip


def _float4(packed: WeightInFile, scales: torch.Tensor, held: Layer) -> CodedWeight:
    """Two float4 in a byte, the first in its lower bits. Their scales are powers of two (mxfp4), or
    float8 that are themselves to be divided by one number (nvfp4)."""
    wide = power_of_two(scales) if scales.dtype == torch.uint8 else scales.float()
    if "weight_global_scale" in held:
        wide = wide / mapped(held["weight_global_scale"]).float()
    return _of_float4(packed, wide)


def _of_float4(packed: WeightInFile, scales: torch.Tensor) -> CodedWeight:
    rows, half = packed.dims
    dims = [rows, 2 * half]
    return CodedWeight(
        packed, scales, *group_sizes(scales, dims), dims, bits=4, table=float4_table()
    )


def _modelopt(_: dict[str, Any], held: Layer) -> CodedWeight:
    """float8 times one scale, or nvfp4: two float4 in a byte, times a float8 for each group and one
    number of the whole matrix."""
    if "pre_quant_scale" in held:
        raise ValueError("what the layer is given is scaled before it, which is not read")
    if held["weight"].dtype != "uint8":
        return _scaled({}, held)
    packed, scales = held["weight"], mapped(held["weight_scale"]).float()
    return _of_float4(packed, scales * mapped(held["weight_scale_2"]).float())


def _compressed_args(settings: dict[str, Any]) -> dict[str, Any]:
    groups = list((settings.get("config_groups") or {}).values())
    found = (groups[0].get("weights") or {}) if groups else {}
    return {} if found.get("type") == "float" else found


def _bitsandbytes(_: dict[str, Any], held: Layer) -> CodedWeight:
    """Rows of int8 with a scale each, or a table of sixteen numbers with a scale for each block,
    which may itself be a code."""
    if "SCB" in held:
        return grouped(held["weight"], mapped(held["SCB"]).float() / 127)
    state = mapped(next(v for k, v in held.items() if k.startswith("weight.quant_state")))
    fields = json.loads(bytes(state.tolist()))
    scales = mapped(held["weight.absmax"])
    if "weight.nested_absmax" in held:
        outer = mapped(held["weight.nested_absmax"]).float()
        outer = outer.repeat_interleave(fields["nested_blocksize"])[: scales.numel()]
        scales = mapped(held["weight.nested_quant_map"]).float()[scales.long()] * outer
        scales = scales + fields["nested_offset"]
    dims, size = list(fields["shape"]), int(fields["blocksize"])
    count = torch.Size(dims).numel()
    # Blocks may go on in the next row: then the weight is one row.
    columns = dims[-1] if dims[-1] % max(1, size) == 0 and dims[-1] % 2 == 0 else count
    rows = count // max(1, columns)
    words = held["weight"]._replace(dims=[rows, -(-columns // 2)])
    # The first of two codes is in the upper bits.
    return CodedWeight(
        words, scales.reshape(rows, -1), 1, size, dims,
        bits=4, order=(1, 0), table=mapped(held["weight.quant_map"]), width=columns,
    )  # fmt: skip


def _mxfp4(_: dict[str, Any], held: Layer) -> CodedWeight:
    """Codes [.., out, in / 32, 16] of float4, two in a byte, and for each 32 a power of two, which
    are a matrix [.., in, out]."""
    *several, rows, blocks, half = held["blocks"].dims
    matrices = torch.Size(several).numel()
    words = held["blocks"]._replace(dims=[matrices * rows, blocks * half])
    scales = power_of_two(mapped(held["scales"])).reshape(matrices * rows, blocks)
    return CodedWeight(
        words, scales, 1, 2 * half, [*several, 2 * blocks * half, rows],
        bits=4, table=float4_table(), transposed=True, matrices=matrices,
    )  # fmt: skip


@dataclass(frozen=True)
class _Reader:
    suffixes: tuple[str, ...]
    # A layer has one of these.
    marks: tuple[str, ...]
    decode: Decoder
    bits: Callable[[dict[str, Any]], int] = field(default=lambda _: 0)
    group: Callable[[dict[str, Any]], int] = field(default=lambda _: 0)
    symmetric: Callable[[dict[str, Any], Layer], bool] = field(default=lambda *_: True)
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
         "weight_g_idx", "weight_global_scale", "input_global_scale", "input_scale",
         "input_zero_point"),
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
    "modelopt": _Reader(
        ("weight", "weight_scale", "weight_scale_2", "input_scale", "pre_quant_scale"),
        ("weight_scale",),
        _modelopt,
    ),
    "mxfp4": _Reader(("blocks", "scales"), ("blocks",), _mxfp4, joint="_", made=""),
}  # fmt: skip
