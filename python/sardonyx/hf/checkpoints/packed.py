"""Weights that quantized checkpoints hold as codes of a few bits, several in each integer, with
scales for groups of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sardonyx import _native
from sardonyx._model.weight_files import WeightInFile

from .derived_weights import kept

# In which order AWQ has eight columns in an integer, from its lowest bits on.
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
_FLOAT4 = (0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6)


@dataclass
class CodedWeight:
    """A weight as integer codes: (code - zero) * scale + offset.

    Attributes:
        codes: a matrix of integers, or of elements of a type where `bits` is 0.
        scales: [row groups, column groups], as `zeros` and `offsets`, which may be missing.
        rows, columns: how many share one, or the group of each.
        dims: of the weight.
        bits: of a code.
        axis: along which an integer has several codes.
        order: code i of an integer is number order[i] from its lowest bits on.
        table: what codes stand for; None where for themselves.
        width: of the matrix, where integers have more codes; 0 where all belong to it.
        transposed: whether the weight is the transpose of the matrix, or of the `matrices` that
            lie one after the other in it.
    """

    codes: WeightInFile
    scales: torch.Tensor
    rows: int | torch.Tensor
    columns: int | torch.Tensor
    dims: list[int]
    zeros: torch.Tensor | None = None
    offsets: torch.Tensor | None = None
    bits: int = 0
    axis: int = 1
    order: Sequence[int] | None = None
    table: torch.Tensor | None = None
    width: int = 0
    transposed: bool = False
    matrices: int = 1

    def placed(self, name: str, path: Path) -> WeightInFile:
        """The weight, made float32 as it is read; its scales are in a new file. ValueError where
        codes and scales do not fit."""
        word = 8 * getattr(torch, self.codes.dtype).itemsize
        bits = self.bits or word
        order = list(range(word // bits)) if self.order is None else list(self.order)
        form: dict[str, Any] = {
            "bits": bits, "packs_rows": self.axis == 0, "order": order, "width": self.width,
            "transposed": self.transposed, "matrices": self.matrices,
        }  # fmt: skip
        numbers = {"scales": self.scales.float()}
        for key, values in (
            ("zeros", self.zeros),
            ("offsets", self.offsets),
            ("table", self.table),
        ):
            if values is not None:
                numbers[key] = values.float()
        for key, groups in (("rows", self.rows), ("columns", self.columns)):
            if isinstance(groups, torch.Tensor):
                numbers[key] = groups.to(torch.int32)
            else:
                form[key] = groups
        made = _native.Dequantized(self.codes, form, list(kept(numbers, path)), self.dims)
        return WeightInFile(name, self.codes.path, "float32", self.dims, 0, 0, made)


def unpacked(
    packed: torch.Tensor, bits: int, axis: int, order: Sequence[int] | None = None
) -> torch.Tensor:
    """The codes in int32s or bytes, lowest bits first, [.., count * size, ..] along `axis`;
    `order` as of AWQ_ORDER. For zero points: codes of weights are dequantized natively."""
    width = packed.element_size() * 8
    count = width // bits
    shifts = torch.arange(0, count * bits, bits, dtype=torch.int64)
    wide = packed.to(torch.int64).movedim(axis, -1).unsqueeze(-1)
    numbers = (wide >> shifts) & ((1 << bits) - 1)
    if order is not None:
        numbers = numbers[..., torch.tensor(places(order))]
    return numbers.flatten(-2).movedim(-1, axis)


def places(order: Sequence[int]) -> list[int]:
    """Where in an integer each of its codes is."""
    return sorted(range(len(order)), key=order.__getitem__)


def grouped(
    codes: WeightInFile,
    scales: torch.Tensor,
    zeros: torch.Tensor | None = None,
    block: Sequence[int] | None = None,
) -> CodedWeight:
    """A weight of elements [rows, columns] with scales and zero points of the whole matrix, of a
    row, of a group of columns, or of a `block` of both. The last group or block may be smaller.
    ValueError where they do not go into the matrix evenly."""
    dims = codes.dims
    if len(dims) != 2 and scales.numel() == 1:
        codes = codes._replace(dims=[1, torch.Size(dims).numel()])
    wide = _matrix(scales)
    if zeros is not None:
        wide, zeros = torch.broadcast_tensors(wide, _matrix(zeros))
    rows, columns = group_sizes(wide, codes.dims, block)
    return CodedWeight(codes, wide, rows, columns, dims, zeros)


def group_sizes(
    scales: torch.Tensor, dims: Sequence[int], block: Sequence[int] | None = None
) -> tuple[int, int]:
    """How many rows, and columns, of a matrix share a scale. ValueError as grouped()."""
    if len(dims) != 2 or scales.dim() != 2:
        raise ValueError(f"{list(scales.shape)} scales for {list(dims)} weights")
    sizes = []
    for axis, groups in enumerate(scales.shape):
        each = block[axis] if block and groups > 1 else max(1, dims[axis] // max(1, groups))
        if not (groups - 1) * each < dims[axis] <= groups * each:
            raise ValueError(f"{list(scales.shape)} scales for {list(dims)} weights")
        sizes.append(each)
    return sizes[0], sizes[1]


def _matrix(values: torch.Tensor) -> torch.Tensor:
    wide = values.float()
    return wide if wide.dim() >= 2 else wide.reshape(-1, 1)


def float4_table() -> torch.Tensor:
    """What codes of four bits (a sign, two bits of an exponent, one of a fraction) stand for."""
    return torch.tensor(_FLOAT4, dtype=torch.float32)


def power_of_two(exponents: torch.Tensor) -> torch.Tensor:
    """2 to the power of bytes less 127; the byte 255 stands for no number."""
    made = torch.ldexp(torch.ones(exponents.shape), exponents.to(torch.int32) - 127)
    return made.masked_fill(exponents == 255, float("nan"))
