"""The tensors of a checkpoint of any format, by name: mapped, not read."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import OnnxExporterError, refusal, usage_error
from sardonyx._base.packages import package
from sardonyx._model.program_settings import QUANTIZATION, QUANTIZATION_FILE, settings_in
from sardonyx._model.weight_files import WeightInFile, weights_in

if TYPE_CHECKING:
    import torch

# The keys under which training scripts save a state dict together with other objects.
_STATE_DICTS = ("state_dict", "model_state_dict", "model")
_PICKLED = (".pt", ".pth", ".bin", ".ckpt")
_INDEX = ".index.json"


@dataclass
class Checkpoint:
    """The tensors of a checkpoint.

    Attributes:
        in_files: those that lie in safetensors files as they are.
        tensors: all others.
        folder: where it is.
    """

    folder: Path
    in_files: list[WeightInFile] = field(default_factory=list)
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)

    def names(self) -> set[str]:
        """The names of all tensors."""
        return {weight.name for weight in self.in_files} | set(self.tensors)

    def called_as(self, wanted: Collection[str]) -> Checkpoint:
        """The same under the names that a model has for them.

        Checkpoints of a whole model have a prefix that those of its base model lack, and the other
        way round: the prefix goes, or comes, with which all names are there.
        """
        names = self.names()
        missing = [name for name in wanted if name not in names]
        if not missing or not names:
            return self
        for longer, shorter in ((names, wanted), (wanted, names)):
            first = next(iter(sorted(shorter)), "")
            prefixes = sorted(each.removesuffix(first) for each in longer if each.endswith(first))
            for prefix in filter(None, prefixes):
                if not prefix.endswith("."):
                    continue
                if longer is names and all(prefix + name in names for name in wanted):
                    return self._renamed(lambda name, prefix=prefix: name.removeprefix(prefix))
                if longer is wanted and all(name.removeprefix(prefix) in names for name in wanted):
                    own = {n.removeprefix(prefix): n for n in wanted}
                    return self._renamed(lambda name, own=own: own.get(name, name))
        return self

    def _renamed(self, name_of: Any) -> Checkpoint:
        return Checkpoint(
            self.folder,
            [each._replace(name=name_of(each.name)) for each in self.in_files],
            {name_of(name): tensor for name, tensor in self.tensors.items()},
        )


def read_checkpoint(path: Path, wanted: Collection[str], scratch: Path) -> Checkpoint:
    """What a file or folder holds; `scratch` takes what has to be put together of pieces.

    SX2001 where there is no checkpoint, and OnnxExporterError for one that cannot be read.
    """
    if path.is_dir():
        return _of_folder(path, wanted, scratch)
    if not path.is_file():
        raise usage_error(f"there is no checkpoint {path}")
    if path.suffix in _PICKLED:
        return Checkpoint(path.parent, [], _pickled(path))
    if path.suffix == ".gguf":
        return Checkpoint(path.parent)  # whose names are llama.cpp's
    if path.name.endswith(".bin" + _INDEX):
        return Checkpoint(path.parent, [], _of_index(path))
    if path.suffix not in (".safetensors", ".json"):
        raise usage_error(
            f"{path} is no checkpoint: it is neither .safetensors nor .gguf nor one of "
            f"{', '.join(_PICKLED)}",
            "save the state dict with safetensors.torch.save_file or torch.save",
        )
    return Checkpoint(path.parent, weights_in(path))


def is_quantized(folder: Path) -> bool:
    """Whether the configuration of transformers or modelopt says that weights are in few bits."""
    of_modelopt = folder / QUANTIZATION_FILE
    return of_modelopt.is_file() or not settings_in(folder).keys().isdisjoint(QUANTIZATION)


def of_transformers(path: Path, scratch: Path) -> Checkpoint | None:
    """The weights of transformers' model of a folder or GGUF file, under the model's names: those
    that it makes of several tensors are made, and those in a few bits dequantized. None where it is
    no checkpoint of transformers."""
    folder = path if path.is_dir() else path.parent
    if path.suffix != ".gguf" and not (folder / "config.json").is_file():
        return None
    package("transformers", f"the names of the weights in {path}")
    from sardonyx.hf.checkpoints.placing import place_checkpoint

    places = place_checkpoint(path if path.suffix == ".gguf" else folder, scratch)
    return Checkpoint(folder, [each._replace(name=name) for name, each in places.items()])


def _of_folder(path: Path, wanted: Collection[str], scratch: Path) -> Checkpoint:
    if any(path.glob("*.safetensors")) or any(path.glob("*.safetensors" + _INDEX)):
        return Checkpoint(path, weights_in(path))
    if indices := sorted(path.glob("*.bin" + _INDEX)):
        return Checkpoint(path, [], _of_index(indices[0]))
    if (path / ".metadata").is_file() or any(path.glob("*/.metadata")):
        package("torch", "reading a checkpoint of torch.distributed")
        from sardonyx.hf.checkpoints.distributed import DistributedCheckpoint, folder_of

        found = folder_of(path)
        if found is not None:
            return Checkpoint(path, DistributedCheckpoint(found).weights(wanted, scratch))
    if (path / "config.json").is_file() and any(path.glob("*.gguf")):
        return Checkpoint(path)
    pickled = [each for each in sorted(path.iterdir()) if each.suffix in _PICKLED]
    if len(pickled) == 1:
        return Checkpoint(path, [], _pickled(pickled[0]))
    raise refusal(
        "SX2001",
        f"{path} has no checkpoint"
        + (f", but several files: {', '.join(each.name for each in pickled)}" if pickled else ""),
        "name a .safetensors file, an index of shards, a file of torch.save, or a folder with one",
    )


def _of_index(index: Path) -> dict[str, torch.Tensor]:
    from sardonyx import _native

    tensors: dict[str, torch.Tensor] = {}
    for name in _native.shards_of_index(str(index)):
        tensors |= _pickled(index.parent / name)
    return tensors


def _pickled(path: Path) -> dict[str, torch.Tensor]:
    torch = package("torch", f"reading {path.name}")
    try:
        held = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except (OSError, ValueError, RuntimeError, pickle.UnpicklingError, EOFError) as error:
        try:
            # Of before PyTorch 1.6, which cannot be mapped.
            held = torch.load(path, map_location="cpu", weights_only=True)
        except Exception:
            raise OnnxExporterError(f"{path} cannot be read: {error}") from error
    for key in _STATE_DICTS:
        if isinstance(held, Mapping) and isinstance(held.get(key), Mapping):
            held = held[key]
    if not isinstance(held, Mapping):
        raise OnnxExporterError(f"{path} holds a {type(held).__name__}, and no state dict")
    return {
        str(name): tensor.detach()
        for name, tensor in held.items()
        if isinstance(tensor, torch.Tensor)
    }
