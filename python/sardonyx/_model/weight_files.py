"""Weights in safetensors files: found and described without reading their data."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from sardonyx import _native
from sardonyx._base.errors import OnnxExporterError

_INDEX = ".safetensors.index.json"
_SHARD = ".safetensors"


class WeightInFile(NamedTuple):
    """Where a tensor lies in a file, row by row.

    Attributes:
        made: what makes the elements as they are read, where the file has them in a few bits; the
            place is none then.
    """

    name: str
    path: str
    dtype: str
    dims: list[int]
    offset: int
    length: int
    made: _native.Dequantized | None = None


Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def weights_in(paths: Paths) -> list[WeightInFile]:
    """What the files hold: .safetensors files, an index of shards, or a folder with either.

    SX2005 for every file that is missing, cut short or invalid.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return [weight for path in paths for weight in _weights(Path(path))]


def _weights(path: Path) -> list[WeightInFile]:
    if path.is_dir():
        indices = sorted(path.glob(f"*{_INDEX}"))
        if indices:
            return _weights(indices[0])
        shards = sorted(map(str, path.glob(f"*{_SHARD}")))
        if not shards:
            raise OnnxExporterError(f"the folder {path} has no .safetensors files")
        return _entries(_native.safetensors_entries(shards))
    if path.suffix == ".json":
        return _entries(_native.sharded_entries(str(path)))
    return _entries(_native.safetensors_entries([str(path)]))


def _entries(found: Iterable[tuple[str, str, str, list[int], int, int]]) -> list[WeightInFile]:
    return [WeightInFile(*each) for each in found]
