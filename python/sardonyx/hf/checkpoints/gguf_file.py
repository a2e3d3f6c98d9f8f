"""GGUF files: what their header says of the tensors, none of which is read.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sardonyx._base.errors import refusal

from .gguf_blocks import BLOCKS, PLAIN

_MAGIC = b"GGUF"
# Versions that count in 64 bits.
_VERSIONS = (2, 3)
_ALIGNMENT = 32
# The formats of values by their numbers.
_VALUES = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
_TEXT, _LIST = 8, 9
_DEEPEST = 4


@dataclass(frozen=True)
class GgufTensor:
    """A tensor of a file.

    Attributes:
        name: llama.cpp's.
        kind: the number of its element type.
        dims: slowest first, as PyTorch has them.
        offset, length: of its bytes in the file.
    """

    name: str
    kind: int
    dims: list[int]
    offset: int
    length: int


@dataclass(frozen=True)
class GgufFile:
    """What the header of a file says.

    Attributes:
        path: of the file.
        metadata: its values by their keys; of long lists the number of their elements.
        tensors: where they lie.
    """

    path: Path
    metadata: dict[str, Any]
    tensors: list[GgufTensor]

    @property
    def architecture(self) -> str:
        """llama.cpp's name of it."""
        return str(self.metadata.get("general.architecture", ""))


class _Reader:
    """Takes one value after the other; struct.error where the file ends before."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self.at = 0

    def value(self, code: str) -> Any:
        (found,) = struct.unpack_from(f"<{code}", self._data, self.at)
        self.at += struct.calcsize(f"<{code}")
        return found

    def text(self) -> str:
        length = self.value("Q")
        if length > len(self._data) - self.at:
            raise ValueError("a text goes beyond its end")
        found = self._data[self.at : self.at + length]
        self.at += length
        return found.decode("utf-8")

    def any(self, kind: int, depth: int = 0) -> Any:
        if kind in _VALUES:
            return self.value(_VALUES[kind])
        if kind == _TEXT:
            return self.text()
        if kind != _LIST or depth == _DEEPEST:
            raise ValueError(f"it has a value of the unknown type {kind}")
        inner, count = self.value("I"), self.value("Q")
        if count > len(self._data) - self.at:
            raise ValueError("a list goes beyond its end")
        return [self.any(inner, depth + 1) for _ in range(count)]


def read_gguf(path: Path) -> GgufFile:
    """The header of a file. SX2005 where it is none, or cut short; SX2001 for types of elements
    that are not read, all of which are named."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found, size = _read(path, data), len(data)
    except (OSError, ValueError, struct.error) as error:
        raise refusal("SX2005", f"{path} is no GGUF file, or cut short: {error}") from error
    needed = max((each.offset + each.length for each in found.tensors), default=0)
    if needed > size:
        raise refusal(
            "SX2005",
            f"{path.name} is cut short: it has {size} bytes of {needed}",
            "download or copy the checkpoint again",
        )
    return found


def _read(path: Path, data: mmap.mmap) -> GgufFile:
    if data[:4] != _MAGIC:
        raise ValueError("it does not begin as one")
    reader = _Reader(data)
    reader.at = len(_MAGIC)
    version, count, values = reader.value("I"), reader.value("Q"), reader.value("Q")
    if version not in _VERSIONS:
        raise ValueError(
            f"its version is {version}, and {_VERSIONS[0]} and {_VERSIONS[1]} are read"
        )
    metadata: dict[str, Any] = {}
    for _ in range(values):
        key = reader.text()
        metadata[key] = reader.any(reader.value("I"))
    entries = [_entry(reader) for _ in range(count)]
    alignment = metadata.get("general.alignment", _ALIGNMENT)
    if not isinstance(alignment, int) or alignment <= 0:
        raise ValueError(f"its alignment is {alignment}")
    start = -(-reader.at // alignment) * alignment
    _check_kinds(path, entries)
    tensors = [
        GgufTensor(name, kind, dims, start + offset, _bytes(name, kind, dims))
        for name, kind, dims, offset in entries
    ]
    return GgufFile(path, metadata, tensors)


def _entry(reader: _Reader) -> tuple[str, int, list[int], int]:
    name = reader.text()
    dims = [reader.value("Q") for _ in range(reader.value("I"))]
    return name, reader.value("I"), dims[::-1], reader.value("Q")


def _check_kinds(path: Path, entries: list[tuple[str, int, list[int], int]]) -> None:
    unknown = sorted(
        {kind for _, kind, _, _ in entries if kind not in BLOCKS and kind not in PLAIN}
    )
    if unknown:
        held = ", ".join(str(kind) for kind in unknown)
        known = ", ".join(block.name for block in BLOCKS.values())
        raise refusal(
            "SX2001",
            f"{path.name} has tensors of ggml's types {held}, which are not read",
            f"F32, F16, BF16, {known} are read",
        )


def _bytes(name: str, kind: int, dims: list[int]) -> int:
    count = 1
    for dim in dims:
        count *= dim
    if kind in PLAIN:
        return count * PLAIN[kind][1]
    block = BLOCKS[kind]
    if not dims or dims[-1] % block.elements:
        raise ValueError(f"rows of '{name}' are no whole blocks of {block.elements}")
    return count // block.elements * block.bytes
