"""Weights in safetensors files: found and described without reading their data."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sardonyx._base.errors import OnnxExporterError

# Headers are short; a longer one is no header (the format's own limit).
_LONGEST_HEADER = 100_000_000

_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
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
    try:
        shards_of = json.loads(path.read_text(encoding="utf-8"))["weight_map"]
        return [path.parent / name for name in sorted(set(shards_of.values()))]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OnnxExporterError(f"{path} is no index of safetensors files: {error}") from error


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
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OnnxExporterError(f"{path} is no safetensors file: {error}") from error


def _weight(path: Path, name: str, entry: dict[str, Any], start: int) -> WeightInFile:
    if entry["dtype"] not in _DTYPES:
        raise ValueError(f"'{name}' is of the unknown type {entry['dtype']}")
    begin, end = (int(place) for place in entry["data_offsets"])
    dims = [int(size) for size in entry["shape"]]
    return WeightInFile(name, str(path), _DTYPES[entry["dtype"]], dims, start + begin, end - begin)
