"""Checkpoints of torch.distributed: folders with `.metadata` and files in which every tensor, or
every piece of one that was sharded, is an archive of torch.save."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from sardonyx import _native
from sardonyx._model.weight_files import WeightInFile

METADATA = ".metadata"


def folder_of(folder: Path) -> Path | None:
    """Where the checkpoint is in a folder: there, or in the only one below it that has one."""
    if (folder / METADATA).is_file():
        return folder
    below = [path.parent for path in folder.glob(f"*/{METADATA}")]
    return below[0] if len(below) == 1 else None


class DistributedCheckpoint:
    """The tensors of a checkpoint that torch.distributed wrote, without the state of trainers."""

    def __init__(self, folder: Path) -> None:
        """SX2005 for metadata that are none, and for every file that is missing or cut short."""
        self._folder = folder
        self._tensors = {each.name: each for each in _native.distributed_tensors(str(folder))}

    @property
    def paths(self) -> list[str]:
        """The files that have the tensors."""
        names = {name for each in self._tensors.values() for name in each.files}
        return [str(self._folder / name) for name in sorted(names)]

    def weights(self, known: Collection[str], scratch: Path) -> list[WeightInFile]:
        """The tensors, under a model's names: trainers put a name before them ("model."), which
        is that which most of the `known` names stand behind.

        Whole tensors stay where they are; those in pieces are put together in `scratch`.
        """
        prefix = self._prefix(known)
        found = []
        for number, (name, tensor) in enumerate(sorted(self._tensors.items())):
            if name.startswith(prefix):
                own = name.removeprefix(prefix)
                found.append(self._weight(own, tensor, scratch / f"joined-{number}"))
        return found

    def _prefix(self, known: Collection[str]) -> str:
        def hits(prefix: str) -> int:
            return sum(prefix + name in self._tensors for name in known)

        prefixes = {""}
        for name in self._tensors:
            parts = name.split(".")
            prefixes |= {".".join(parts[:count]) + "." for count in range(1, min(4, len(parts)))}
        return max(sorted(prefixes, key=len), key=hits)

    def _weight(self, own: str, tensor: _native.DistributedTensor, joined: Path) -> WeightInFile:
        folder, dims = str(self._folder), list(tensor.dims)
        whole = _native.whole_extent(folder, tensor)
        if whole is not None:
            return WeightInFile(
                own, str(self._folder / tensor.files[0]), tensor.dtype, dims, *whole
            )
        joined.parent.mkdir(parents=True, exist_ok=True)
        length = _native.write_joined(folder, tensor, str(joined))
        return WeightInFile(own, str(joined), tensor.dtype, dims, 0, length)
