"""Blocks of numbers in few bits, as GGUF files have them, and the numbers that they stand for.

Every row of a tensor is a row of blocks, and every block has its scales in itself. What lies where:
ggml's ggml-common.h (the structs) and ggml-quants.c (dequantize_row_*).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from .packed import float4, power_of_two

# [blocks, bytes] as uint8 to [blocks, elements] as float32.
Unpack = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Block:
    """A kind of block.

    Attributes:
        name: ggml's.
        elements, bytes: of one.
        unpack: what it stands for.
    """

    name: str
    elements: int
    bytes: int
    unpack: Unpack


# The types of elements that are no blocks, and how many bytes one takes.
PLAIN = {
    0: ("float32", 4),
    1: ("float16", 2),
    24: ("int8", 1),
    25: ("int16", 2),
    26: ("int32", 4),
    27: ("int64", 8),
    28: ("float64", 8),
    30: ("bfloat16", 2),
}
_NONLINEAR4 = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


def _half(block: torch.Tensor, at: int) -> torch.Tensor:
    """The float16 at a byte of each block, [blocks, 1]."""
    return block[:, at : at + 2].contiguous().view(torch.float16).float()


def _nibbles(packed: torch.Tensor) -> torch.Tensor:
    """The lower four bits of all bytes of a row, then the upper ones."""
    return torch.cat([packed & 15, packed >> 4], dim=-1)


def _high_bits(block: torch.Tensor, at: int) -> torch.Tensor:
    """The fifth bits of 32 numbers, which are the bits of four bytes."""
    shifts = torch.arange(8, dtype=torch.uint8)
    return ((block[:, at : at + 4].unsqueeze(-1) >> shifts) & 1).flatten(1) << 4


def _q4_0(block: torch.Tensor) -> torch.Tensor:
    return (_nibbles(block[:, 2:]).float() - 8) * _half(block, 0)


def _q4_1(block: torch.Tensor) -> torch.Tensor:
    return _nibbles(block[:, 4:]).float() * _half(block, 0) + _half(block, 2)


def _q5_0(block: torch.Tensor) -> torch.Tensor:
    numbers = _nibbles(block[:, 6:]) | _high_bits(block, 2)
    return (numbers.float() - 16) * _half(block, 0)


def _q5_1(block: torch.Tensor) -> torch.Tensor:
    numbers = _nibbles(block[:, 8:]) | _high_bits(block, 4)
    return numbers.float() * _half(block, 0) + _half(block, 2)


def _q8_0(block: torch.Tensor) -> torch.Tensor:
    return block[:, 2:].contiguous().view(torch.int8).float() * _half(block, 0)


def _iq4_nl(block: torch.Tensor) -> torch.Tensor:
    table = torch.tensor(_NONLINEAR4, dtype=torch.float32)
    return table[_nibbles(block[:, 2:]).long()] * _half(block, 0)


def _mxfp4(block: torch.Tensor) -> torch.Tensor:
    return float4(_nibbles(block[:, 1:])) * power_of_two(block[:, :1])


def _pairs_of_bits(packed: torch.Tensor) -> torch.Tensor:
    """Two bits each: of every 32 bytes first the lowest of all, then the next."""
    shifts = torch.tensor([0, 2, 4, 6], dtype=torch.uint8).view(4, 1)
    groups: torch.Tensor = packed.unflatten(1, (-1, 1, 32))
    return ((groups >> shifts) & 3).flatten(1)


def _each(scales: torch.Tensor, elements: int) -> torch.Tensor:
    return scales.float().repeat_interleave(elements, dim=1)


def _q2_k(block: torch.Tensor) -> torch.Tensor:
    scales, numbers = block[:, :16], _pairs_of_bits(block[:, 16:80]).float()
    least = _half(block, 82) * _each(scales >> 4, 16)
    return _half(block, 80) * _each(scales & 15, 16) * numbers - least


def _q3_k(block: torch.Tensor) -> torch.Tensor:
    shifts = torch.arange(8, dtype=torch.uint8).view(8, 1)
    high = ((block[:, :32].unsqueeze(1) >> shifts) & 1).flatten(1)
    numbers = _pairs_of_bits(block[:, 32:96]).float() + 4 * high.float() - 4
    packed = block[:, 96:108]
    upper = (packed[:, 8:].unsqueeze(1) >> torch.tensor([0, 2, 4, 6]).view(4, 1).byte()) & 3
    scales = (_nibbles(packed[:, :8]) | (upper.flatten(1) << 4)).float() - 32
    return _half(block, 108) * _each(scales, 16) * numbers


def _scales_and_least(packed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Eight scales and eight least values of six bits each, in twelve bytes."""
    first, second, third = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = torch.cat([first & 63, (third & 15) | ((first >> 6) << 4)], dim=1)
    least = torch.cat([second & 63, (third >> 4) | ((second >> 6) << 4)], dim=1)
    return scales, least


def _of_64(packed: torch.Tensor) -> torch.Tensor:
    """Of every 32 bytes the lower four bits, then the upper ones."""
    return _nibbles(packed.unflatten(1, (-1, 32))).flatten(1)


def _scaled(block: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    scales, least = _scales_and_least(block[:, 4:16])
    taken = _half(block, 2) * _each(least, 32)
    return _half(block, 0) * _each(scales, 32) * numbers.float() - taken


def _q4_k(block: torch.Tensor) -> torch.Tensor:
    return _scaled(block, _of_64(block[:, 16:]))


def _q5_k(block: torch.Tensor) -> torch.Tensor:
    shifts = torch.arange(8, dtype=torch.uint8).view(8, 1)
    high = ((block[:, 16:48].unsqueeze(1) >> shifts) & 1).flatten(1) << 4
    return _scaled(block, _of_64(block[:, 48:]) | high)


def _q6_k(block: torch.Tensor) -> torch.Tensor:
    low = _nibbles(block[:, :128].unflatten(1, (2, 64))).flatten(1)
    numbers = low | (_pairs_of_bits(block[:, 128:192]) << 4)
    scales = block[:, 192:208].contiguous().view(torch.int8)
    return _half(block, 208) * _each(scales, 16) * (numbers.float() - 32)


# By ggml's numbers.
BLOCKS = {
    2: Block("Q4_0", 32, 18, _q4_0),
    3: Block("Q4_1", 32, 20, _q4_1),
    6: Block("Q5_0", 32, 22, _q5_0),
    7: Block("Q5_1", 32, 24, _q5_1),
    8: Block("Q8_0", 32, 34, _q8_0),
    10: Block("Q2_K", 256, 84, _q2_k),
    11: Block("Q3_K", 256, 110, _q3_k),
    12: Block("Q4_K", 256, 144, _q4_k),
    13: Block("Q5_K", 256, 176, _q5_k),
    14: Block("Q6_K", 256, 210, _q6_k),
    20: Block("IQ4_NL", 32, 18, _iq4_nl),
    39: Block("MXFP4", 32, 17, _mxfp4),
}
