"""The weights of a checkpoint, in whichever format they are: found before anything is written, and
placed when the model is there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sardonyx._base.errors import Diagnostic, refusals
from sardonyx._model.weight_files import WeightInFile

from . import gguf
from .distributed import DistributedCheckpoint, folder_of
from .weights import PlacedWeights, place_weights

if TYPE_CHECKING:
    import torch

    from sardonyx.hf.base.progress import Progress

    from .checkpoint import Checkpoint
    from .quantized import QuantizedCheckpoint


class Weights(ABC):
    """The weights of a checkpoint.

    Attributes:
        paths: their files.
        is_plain: whether transformers itself reads them without further packages.
        quantized: the quantized ones of them, once they are placed; None where there are none.
    """

    def __init__(self, paths: Iterable[str], is_plain: bool) -> None:
        self.paths = list(dict.fromkeys(paths))
        self.is_plain = is_plain
        self.quantized: QuantizedCheckpoint | None = None

    @abstractmethod
    def placed(self, model: torch.nn.Module, scratch: Path, progress: Progress) -> PlacedWeights:
        """Which is which of the model's; what is computed is kept in the folder `scratch`."""


class _Safetensors(Weights):
    def __init__(self, checkpoint: Checkpoint) -> None:
        self._in_files = checkpoint.weights()
        self._settings = checkpoint.quantization
        super().__init__((each.path for each in self._in_files), not self._settings)

    def placed(self, model: torch.nn.Module, scratch: Path, progress: Progress) -> PlacedWeights:
        in_files: list[WeightInFile] = self._in_files
        if self._settings:
            from .quantized import decoded

            with progress.step("unpack weights"):
                self.quantized = decoded(in_files, self._settings, scratch)
            in_files = self.quantized.weights
        with progress.step("place weights"):
            return place_weights(model, in_files, scratch)


class _Gguf(Weights):
    def __init__(self, path: Path, checkpoint: Checkpoint) -> None:
        self._files = gguf.files_of(path)
        self._has_config = checkpoint.has_config
        super().__init__((str(file.path) for file in self._files), is_plain=False)

    def placed(self, model: torch.nn.Module, scratch: Path, progress: Progress) -> PlacedWeights:
        conversions = gguf.conversions_of(self._files, model.config)
        with progress.step("unpack weights"):
            made = gguf.unpacked(self._files, model, scratch, named=conversions is None)
        with progress.step("place weights"):
            placed = place_weights(model, made.weights, scratch, conversions)
        self._check(placed)
        self.quantized = made if made.names else None
        return placed

    def _check(self, placed: PlacedWeights) -> None:
        """SX2004 for factors of rotary frequencies, which configurations that transformers makes
        of such a file leave out."""
        names = [weight.name for weight in placed.unused]
        factors = [name for name in names if name.startswith("rope_factors")]
        factors += [name for name in names if name == "rope_freqs.weight"]
        if factors and not self._has_config:
            message = (
                f"{self._files[0].path.name} has {', '.join(factors)}, which transformers does not "
                "read: the model would be another one for long texts"
            )
            advice = "put the model's config.json beside the file"
            raise refusals([Diagnostic("SX2004", message, help=advice)])


class _Distributed(Weights):
    def __init__(self, folder: Path) -> None:
        self._held = DistributedCheckpoint(folder)
        super().__init__(self._held.paths, is_plain=False)

    def placed(self, model: torch.nn.Module, scratch: Path, progress: Progress) -> PlacedWeights:
        with progress.step("place weights"):
            known = model.state_dict(keep_vars=True)
            return place_weights(model, self._held.weights(known, scratch), scratch)


def weights_of(checkpoint: Checkpoint) -> Weights:
    """The weights of a checkpoint, none of which is read. SX2001 where there are none, SX2005 for
    every file that is missing or cut short."""
    if checkpoint.gguf is not None:
        return _Gguf(checkpoint.gguf, checkpoint)
    if not checkpoint.has_safetensors and (folder := folder_of(checkpoint.folder)) is not None:
        return _Distributed(folder)
    return _Safetensors(checkpoint)
