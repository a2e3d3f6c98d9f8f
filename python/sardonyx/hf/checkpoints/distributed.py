"""Checkpoints of torch.distributed: folders with `.metadata` and files in which every tensor, or
every piece of one that was sharded, is an archive of torch.save."""

from __future__ import annotations

import enum
import io
import math
import pickle
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, BinaryIO

import torch

from sardonyx._base.errors import Diagnostic, refusal, refusals
from sardonyx._model.weight_files import WeightInFile

METADATA = ".metadata"
# No tensor has more: files of such sizes are made before they are filled.
_MAX_ELEMENTS = 1 << 42
# What a file of metadata may be made of: its own classes, and what describes tensors.
_CLASSES = frozenset(
    (
        ("torch.distributed.checkpoint.metadata", "BytesStorageMetadata"),
        ("torch.distributed.checkpoint.metadata", "ChunkStorageMetadata"),
        ("torch.distributed.checkpoint.metadata", "Metadata"),
        ("torch.distributed.checkpoint.metadata", "MetadataIndex"),
        ("torch.distributed.checkpoint.metadata", "StorageMeta"),
        ("torch.distributed.checkpoint.metadata", "TensorProperties"),
        ("torch.distributed.checkpoint.metadata", "TensorStorageMetadata"),
        ("torch.distributed.checkpoint.metadata", "_MEM_FORMAT_ENCODING"),
        ("torch.distributed.checkpoint.filesystem", "_StorageInfo"),
        ("torch.serialization", "_get_layout"),
        ("torch", "Size"),
        ("collections", "OrderedDict"),
        ("pathlib", "PosixPath"),
        ("pathlib", "PurePosixPath"),
    )
)


def _enumerator(kind: Any, name: Any) -> Any:
    """Stands for the getattr by which Pythons 3.11.0 to 3.11.3 write an enumeration's members."""
    if not isinstance(kind, type) or not issubclass(kind, enum.Enum):
        raise pickle.UnpicklingError("it has a builtins.getattr, which is no part of metadata")
    return kind[name]


class _Unpickler(pickle._Unpickler):
    """Of metadata alone: a pickle could otherwise call anything.

    In Python, since the one in C makes a table as long as the largest number in the file.
    """

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "getattr"):
            return _enumerator
        if (module, name) in _CLASSES:
            return super().find_class(module, name)
        found = getattr(torch, name, None) if module == "torch" else None
        if isinstance(found, torch.dtype):
            return found
        raise pickle.UnpicklingError(f"it has a {module}.{name}, which is no part of metadata")


class _Piece(io.RawIOBase):
    """Bytes of a file, as a file of their own."""

    def __init__(self, file: BinaryIO, offset: int, length: int) -> None:
        super().__init__()
        self._file, self._offset, self._length = file, offset, length
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        count = max(0, min(len(buffer), self._length - self._at))
        self._file.seek(self._offset + self._at)
        read = self._file.read(count)
        buffer[: len(read)] = read
        self._at += len(read)
        return len(read)


def folder_of(folder: Path) -> Path | None:
    """Where the checkpoint is in a folder: there, or in the only one below it that has one."""
    if (folder / METADATA).is_file():
        return folder
    below = [path.parent for path in folder.glob(f"*/{METADATA}")]
    return below[0] if len(below) == 1 else None


class Distributed:
    """A checkpoint's tensors; what trainers keep beside them is left out."""

    def __init__(self, folder: Path) -> None:
        """SX2005 for metadata that are none, and for every file that is missing or cut short."""
        self._folder = folder
        path = folder / METADATA
        try:
            self._metadata = _Unpickler(io.BytesIO(path.read_bytes())).load()
            entries = self._metadata.state_dict_metadata
            self._places = self._metadata.storage_data or {}
            self._tensors = {n: each for n, each in entries.items() if hasattr(each, "chunks")}
            for index, place in self._places.items():
                _check_place(index, place)
            for name, entry in self._tensors.items():
                _check_tensor(name, entry)
        except Exception as error:  # whatever a damaged pickle comes to
            raise refusal("SX2005", f"{path} is no metadata of a checkpoint: {error}") from error
        self._check()

    def _check(self) -> None:
        ends: dict[str, int] = {}
        problems: list[str] = []
        for index, place in self._places.items():
            if index.fqn not in self._tensors:
                continue
            if getattr(place, "transform_descriptors", None):
                problems.append(f"'{index.fqn}' is compressed, which is not read")
            if Path(place.relative_path).name != place.relative_path:
                problems.append(f"'{index.fqn}' is outside of the folder: {place.relative_path}")
            else:
                end = place.offset + place.length
                ends[place.relative_path] = max(end, ends.get(place.relative_path, 0))
        for name, end in sorted(ends.items()):
            path = self._folder / name
            if not path.is_file():
                problems.append(f"the file {name} is missing")
            elif path.stat().st_size < end:
                problems.append(
                    f"the file {name} is cut short: it has {path.stat().st_size} bytes of {end}"
                )
        if problems:
            advice = "copy the checkpoint again"
            raise refusals([Diagnostic("SX2005", each, help=advice) for each in problems])

    @property
    def paths(self) -> list[str]:
        """The files that have the tensors."""
        names = {place.relative_path for place in self._places.values()}
        return [str(self._folder / name) for name in sorted(names)]

    def weights(self, known: Collection[str], scratch: Path) -> list[WeightInFile]:
        """The tensors, under a model's names: trainers put a name before them ("model."), which
        is that which most of the `known` names stand behind.

        Whole tensors stay where they are; those in pieces are put together in `scratch`.
        """
        prefix = self._prefix(known)
        found = []
        for number, (name, entry) in enumerate(sorted(self._tensors.items())):
            if name.startswith(prefix):
                own = name.removeprefix(prefix)
                found.append(self._weight(name, own, entry, scratch / f"joined-{number}"))
        return found

    def _prefix(self, known: Collection[str]) -> str:
        def hits(prefix: str) -> int:
            return sum(prefix + name in self._tensors for name in known)

        prefixes = {""}
        for name in self._tensors:
            parts = name.split(".")
            prefixes |= {".".join(parts[:count]) + "." for count in range(1, min(4, len(parts)))}
        return max(sorted(prefixes, key=len), key=hits)

    def _weight(self, name: str, own: str, entry: Any, joined: Path) -> WeightInFile:
        if len(entry.chunks) == 1:
            whole = self._lying(name, own, entry)
            if whole is not None:
                return whole
        dims, dtype = list(entry.size), entry.properties.dtype
        joined.parent.mkdir(parents=True, exist_ok=True)
        count = torch.Size(dims).numel()
        made = torch.from_file(str(joined), shared=True, size=count, dtype=dtype).view(dims)
        for chunk in entry.chunks:
            axes = zip(chunk.offsets, chunk.sizes, strict=True)
            made[tuple(slice(start, start + size) for start, size in axes)] = self._read(
                name, chunk
            )
        return WeightInFile(own, str(joined), _name(dtype), dims, 0, count * dtype.itemsize)

    def _lying(self, name: str, own: str, entry: Any) -> WeightInFile | None:
        """Where a whole tensor lies, if it does so row by row."""
        from sardonyx._torch_private import fake_tensors

        (chunk,) = entry.chunks
        with (
            fake_tensors.FakeTensorMode()
        ):  # in which PyTorch reads no data, and tells where they are
            tensor = self._read(name, chunk)
        start = fake_tensors.checkpoint_offset(tensor)
        if start is None or not tensor.is_contiguous() or list(tensor.shape) != list(entry.size):
            return None
        place = self._place(name, chunk)
        begin = start + tensor.storage_offset() * tensor.itemsize
        at, length = place.offset + begin, tensor.numel() * tensor.itemsize
        if begin + length > place.length:
            return None  # PyTorch says of what, as it reads it
        path = str(self._folder / place.relative_path)
        return WeightInFile(own, path, _name(tensor.dtype), list(tensor.shape), at, length)

    def _read(self, name: str, chunk: Any) -> torch.Tensor:
        """A piece. SX2005 where it is no tensor of the size that the metadata tell."""
        place = self._place(name, chunk)
        path = self._folder / place.relative_path
        try:
            with path.open("rb") as file:
                part: Any = io.BufferedReader(_Piece(file, place.offset, place.length))
                tensor = torch.load(part, weights_only=True, map_location="cpu")
            if not isinstance(tensor, torch.Tensor) or list(tensor.shape) != list(chunk.sizes):
                raise ValueError(f"it is no tensor of the size {list(chunk.sizes)}")
        except Exception as error:  # whatever a damaged pickle comes to
            raise refusal(
                "SX2005", f"'{name}' cannot be read from {path.name}: {error}", "copy it again"
            ) from error
        return tensor

    def _place(self, name: str, chunk: Any) -> Any:
        for index, place in self._places.items():
            if index.fqn == name and (index.offset is None or index.offset == chunk.offsets):
                return place
        raise refusal("SX2005", f"'{name}' has a piece that is in no file", "copy it again")


def _check_place(index: Any, place: Any) -> None:
    """ValueError where it is none: a pickle may put anything where a name or a number belongs."""
    if not isinstance(index.fqn, str) or not isinstance(place.relative_path, str):
        raise ValueError(f"{index.fqn!r} in {place.relative_path!r} are no names")
    if not _are_counts([place.offset, place.length]):
        raise ValueError(f"'{index.fqn}' lies at no place of a file")


def _check_tensor(name: Any, entry: Any) -> None:
    """ValueError where it is none, or its pieces do not make it up."""
    if not isinstance(name, str) or not isinstance(entry.properties.dtype, torch.dtype):
        raise ValueError(f"{name!r} is no tensor")
    size = list(entry.size)
    if not _are_counts(size) or math.prod(size) > _MAX_ELEMENTS:
        raise ValueError(f"'{name}' has no size")
    covered = 0
    for chunk in entry.chunks:
        sides = list(zip(chunk.offsets, chunk.sizes, size, strict=True))
        inside = _are_counts([*chunk.offsets, *chunk.sizes])
        if not inside or any(start + length > whole for start, length, whole in sides):
            raise ValueError(f"'{name}' has a piece that is no part of it")
        covered += math.prod(chunk.sizes)
    if covered != math.prod(size):
        raise ValueError(f"the pieces of '{name}' have {covered} elements of {math.prod(size)}")


def _are_counts(values: Iterable[Any]) -> bool:
    return all(type(value) is int and value >= 0 for value in values)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
