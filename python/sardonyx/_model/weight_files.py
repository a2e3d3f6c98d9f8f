"""Weights in safetensors files: found and described without reading their data."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sardonyx._base.errors import OnnxExporterError

# Headers are short; a longer one is no header (the format's own limit).
_LONGEST_HEADER = 100_000_000
_BEYOND = 1 << 62  # no size or place in a file
# What reading a file comes to that is no file of its format; JSON may nest without end.
_OF_NO_FILE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)

# Their names, and the bytes of an element.
_DTYPES = {
    "F64": ("float64", 8),
    "F32": ("float32", 4),
    "F16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    "I64": ("int64", 8),
    "I32": ("int32", 4),
    "I16": ("int16", 2),
    "I8": ("int8", 1),
    "U64": ("uint64", 8),
    "U32": ("uint32", 4),
    "U16": ("uint16", 2),
    "U8": ("uint8", 1),
    "BOOL": ("bool", 1),
    "F8_E4M3": ("float8_e4m3fn", 1),
    "F8_E5M2": ("float8_e5m2", 1),
    "F8_E8M0": ("float8_e8m0fnu", 1),
}


class WeightInFile(NamedTuple):
    """Where a tensor lies in a file, row by row."""

    name: str
    path: str
    dtype: str
    dims: list[int]
    offset: int
    length: int


Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def weights_in(paths: Paths) -> list[WeightInFile]:
    """What the files hold: .safetensors files, an index of shards, or a folder with either."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return [weight for path in paths for file in _files(Path(path)) for weight in _read(file)]


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        indices = sorted(path.glob("*.safetensors.index.json"))
        if indices:
            return _files(indices[0])
        shards = sorted(path.glob("*.safetensors"))
        if not shards:
            raise OnnxExporterError(f"the folder {path} has no .safetensors files")
        return shards
    if path.suffix != ".json":
        return [path]
    return [path.parent / name for name in shards_of(path)]


def shards_of(index: Path) -> list[str]:
    """The names of the files that an index names. OnnxExporterError where it is none."""
    try:
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        if not all(isinstance(name, str) for name in names):
            raise ValueError("its `weight_map` names what are no files")
    except _OF_NO_FILE as error:
        raise OnnxExporterError(f"{index} is no index of safetensors files: {error}") from error
    return sorted(names)


def _read(path: Path) -> Iterable[WeightInFile]:
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = file.read(length) if length <= _LONGEST_HEADER else b""
        if len(header) != length:
            raise ValueError("its header is cut off, or too long")
        described = json.loads(header)
        described.pop("__metadata__", None)
        return [_weight(path, name, entry, 8 + length) for name, entry in described.items()]
    except _OF_NO_FILE as error:
        raise OnnxExporterError(f"{path} is no safetensors file: {error}") from error


def _weight(path: Path, name: str, entry: dict[str, Any], start: int) -> WeightInFile:
    if entry["dtype"] not in _DTYPES:
        raise ValueError(f"'{name}' is of the unknown type {entry['dtype']}")
    name.encode("utf-8")  # half a letter is no name: UnicodeEncodeError is a ValueError
    begin, end = entry["data_offsets"]
    dims, (dtype, width) = entry["shape"], _DTYPES[entry["dtype"]]
    if not all(type(number) is int and 0 <= number < _BEYOND for number in (begin, end, *dims)):
        raise ValueError(f"the sizes or places of '{name}' are no numbers")
    if end - begin != math.prod(dims) * width:
        raise ValueError(f"'{name}' has {end - begin} bytes for {dims} of {dtype}")
    return WeightInFile(name, str(path), dtype, dims, start + begin, end - begin)
