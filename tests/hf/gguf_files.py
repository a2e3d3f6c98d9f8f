"""GGUF files, written here as the format says."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import torch

_ALIGNMENT = 32
# The numbers of element types.
F32, F16, Q4_0, Q4_1, Q8_0, BF16 = 0, 1, 2, 3, 8, 30
_PLAIN = {F32: torch.float32, F16: torch.float16, BF16: torch.bfloat16}


def coded(weight: torch.Tensor, kind: int) -> tuple[bytes, torch.Tensor]:
    """The bytes of a weight [.., columns], and what they stand for."""
    if kind in _PLAIN:
        held = weight.to(_PLAIN[kind])
        return held.contiguous().view(torch.uint8).numpy().tobytes(), held.float()
    blocks = weight.float().reshape(-1, 32)
    if kind == Q4_1:
        least = blocks.amin(1, keepdim=True).half()
        scale = ((blocks.amax(1, keepdim=True) - least) / 15).half()
        codes = ((blocks - least) / scale.float()).round().clamp(0, 15)
        numbers = codes * scale.float() + least.float()
        heads = [scale, least]
    else:
        # The number that is farthest from 0 has the code that is.
        most, least_code, last = {Q4_0: (-8, -8, 7), Q8_0: (127, -128, 127)}[kind]
        at = blocks.abs().argmax(1, keepdim=True)
        scale = (blocks.gather(1, at) / most).half()
        codes = (blocks / scale.float()).round().clamp(least_code, last)
        numbers = codes * scale.float()
        codes = codes + 8 if kind == Q4_0 else codes
        heads = [scale]
    if kind == Q8_0:
        body = codes.to(torch.int8).view(torch.uint8)
    else:
        few = codes.to(torch.uint8)
        body = few[:, :16] | few[:, 16:] << 4
    bytes_of = [*(head.view(torch.uint8) for head in heads), body]
    return torch.cat(bytes_of, 1).numpy().tobytes(), numbers.reshape(weight.shape)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, list):
        items = b"".join(_value(each)[4:] for each in value)
        return struct.pack("<I", 9) + _value(value[0])[:4] + struct.pack("<Q", len(value)) + items
    return struct.pack("<II", 4, value)


def write_gguf(
    path: Path, metadata: dict[str, Any], tensors: dict[str, tuple[torch.Tensor, int]]
) -> dict[str, torch.Tensor]:
    """A file of tensors, each with its element type; what they stand for there."""
    table, data = b"", b""
    exact = {}
    for name, (weight, kind) in tensors.items():
        held, exact[name] = coded(weight, kind)
        dims = weight.shape[::-1]
        table += _text(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
        table += struct.pack("<IQ", kind, len(data))
        data += held + bytes(-len(held) % _ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    head += b"".join(_text(key) + _value(value) for key, value in metadata.items()) + table
    path.write_bytes(head + bytes(-len(head) % _ALIGNMENT) + data)
    return exact
