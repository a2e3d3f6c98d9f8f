"""Tensors that an export computes of a checkpoint's, in files of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sardonyx._model.weight_files import WeightInFile, weights_in

if TYPE_CHECKING:
    import torch


def kept(tensors: Mapping[str, torch.Tensor], path: Path) -> list[WeightInFile]:
    """The tensors, in a file at `path`. OSError where the system does not take them."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    except SafetensorError as error:  # of a full disk, too
        raise OSError(str(error)) from error
    return weights_in(path)
