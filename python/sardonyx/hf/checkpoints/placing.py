"""The weights of a checkpoint under the names of transformers' model."""

from __future__ import annotations

from pathlib import Path

from sardonyx._model.weight_files import WeightInFile
from sardonyx.hf.base.progress import Progress
from sardonyx.hf.base.tasks import choose
from sardonyx.hf.components.composites import part_that_runs

from . import building
from .checkpoint import read_checkpoint
from .formats import weights_of


def place_checkpoint(path: Path, scratch: Path) -> dict[str, WeightInFile]:
    """Where each weight lies; what is computed is written to the folder `scratch`. SX2004 for
    weights that no file has."""
    checkpoint, _ = part_that_runs(read_checkpoint(path))
    chosen = choose(checkpoint.config, None)
    model = building.build(checkpoint, chosen.model_class)
    return weights_of(checkpoint).placed(model, scratch, Progress()).places
