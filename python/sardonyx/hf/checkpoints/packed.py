"""Numbers of a few bits, several in each integer, as quantized checkpoints hold them."""

from __future__ import annotations

from collections.abc import Sequence

import torch

# In which order AWQ has eight columns in an integer, from its lowest bits on.
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
_FLOAT4 = (0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6)


def unpacked(
    packed: torch.Tensor, bits: int, axis: int, order: Sequence[int] | None = None
) -> torch.Tensor:
    """The numbers in int32s or bytes, lowest bits first, [.., count * size, ..] along `axis`;
    `order` says which number of an integer stands where."""
    width = packed.element_size() * 8
    count = width // bits
    shifts = torch.arange(0, count * bits, bits, dtype=torch.int64)
    wide = packed.to(torch.int64).movedim(axis, -1).unsqueeze(-1)
    numbers = (wide >> shifts) & ((1 << bits) - 1)
    if order is not None:
        numbers = numbers[..., torch.tensor(order).argsort()]
    return numbers.flatten(-2).movedim(-1, axis)


def spread(
    scales: torch.Tensor, size: torch.Size, block: Sequence[int] | None = None
) -> torch.Tensor:
    """One of a few scales or zero points for each weight [rows, columns], as float32: of the whole
    matrix, of a row, of a group of columns, or of a `block` of both, the last of which may be
    smaller. ValueError where they do not go into the matrix evenly."""
    wide = scales.float()
    if wide.dim() < 2:
        wide = wide.reshape(-1, 1)
    for axis in (0, 1):
        groups = wide.shape[axis]
        if groups == 1:
            continue
        each = block[axis] if block else size[axis] // groups
        if not (groups - 1) * each < size[axis] <= groups * each:
            raise ValueError(f"{list(scales.shape)} scales for {list(size)} weights")
        wide = wide.repeat_interleave(each, dim=axis).narrow(axis, 0, size[axis])
    return wide.expand(size)


def float4(codes: torch.Tensor) -> torch.Tensor:
    """What codes of four bits (a sign, two bits of an exponent, one of a fraction) stand for."""
    return torch.tensor(_FLOAT4, dtype=torch.float32)[codes.long()]


def power_of_two(exponents: torch.Tensor) -> torch.Tensor:
    """2 to the power of bytes less 127; the byte 255 stands for no number."""
    made = torch.ldexp(torch.ones(exponents.shape), exponents.to(torch.int32) - 127)
    return made.masked_fill(exponents == 255, float("nan"))
