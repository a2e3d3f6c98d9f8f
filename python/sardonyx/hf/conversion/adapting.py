"""What an export does with LoRA adapters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from sardonyx._base.errors import UsageError, refusal

if TYPE_CHECKING:
    import torch

    from sardonyx._model.program import ONNXProgram
    from sardonyx.hf.adapters.inputs import AdapterInputs
    from sardonyx.hf.base.parts import Part
    from sardonyx.hf.checkpoints.formats import Weights
    from sardonyx.hf.checkpoints.weights import PlacedWeights


class Adapters:
    """The adapters of an export: those that become inputs, and those that are merged.

    Attributes:
        merged: the folders of those that are merged.
    """

    def __init__(self, folders: Sequence[Path], merged: Sequence[Path]) -> None:
        self._folders = folders
        self.merged = merged
        self._inputs: AdapterInputs | None = None

    def __bool__(self) -> bool:
        return bool(self._folders or self.merged)

    @property
    def names(self) -> list[str]:
        """The inputs that callers may leave out."""
        return [] if self._inputs is None else self._inputs.names

    def read(self, model: torch.nn.Module) -> None:
        """Reads those that become inputs. SX2011 where they do not fit the model."""
        if not self._folders:
            return
        from sardonyx.hf.adapters.adapter import read_adapters
        from sardonyx.hf.adapters.inputs import AdapterInputs

        self._inputs = AdapterInputs(read_adapters(self._folders, model), model)

    def merge(
        self, model: torch.nn.Module, placed: PlacedWeights, weights: Weights, scratch: Path
    ) -> None:
        """Merges the others into the weights. SX2011 where they do not fit the model."""
        if not self.merged:
            return
        from sardonyx.hf.adapters.adapter import read_adapters
        from sardonyx.hf.adapters.merging import merge_files

        in_few_bits = () if weights.quantized is None else tuple(weights.quantized.names)
        merge_files(placed, read_adapters(self.merged, model), model, scratch, in_few_bits)

    def one(self, parts: Iterable[Part]) -> Iterator[Part]:
        """The parts. SX2011 where adapters are inputs and there are several."""
        for number, part in enumerate(parts):
            if number and self._inputs is not None:
                raise refusal(
                    "SX2011",
                    "adapters are inputs of models that are one file, and this one is several",
                    "--merge-adapter merges them into the weights",
                    UsageError,
                )
            yield part

    def part(self, part: Part) -> Part:
        """The part with the inputs of adapters."""
        return part if self._inputs is None else self._inputs.part(part)

    def in_force(self, part: Part) -> AbstractContextManager[None]:
        """Within it, the model adds what these inputs come to."""
        return nullcontext() if self._inputs is None else self._inputs.in_force(part)

    def give_defaults(self, program: ONNXProgram) -> None:
        """Has callers leave them out."""
        if self._inputs is not None:
            self._inputs.give_defaults(program)

    def write(self, programs: Mapping[str, ONNXProgram], folder: Path) -> list[str]:
        """Writes the files of adapters; returns their names."""
        if self._inputs is None:
            return []
        files = self._inputs.write(next(iter(programs.values())), folder)
        return [file.name for file in files]
