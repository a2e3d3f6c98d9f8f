"""Adapters merged into the weights of a model: W + scale * B A, computed in float32."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from sardonyx._base.errors import UsageError, refusal
from sardonyx.hf.checkpoints.derived_weights import kept
from sardonyx.hf.checkpoints.weights import mapped, reading_files

from .adapter import CODE, Adapter

if TYPE_CHECKING:
    from sardonyx.hf.checkpoints.weights import PlacedWeights


@reading_files()
def merge_files(
    placed: PlacedWeights,
    adapters: Sequence[Adapter],
    model: torch.nn.Module,
    scratch: Path,
    quantized: Sequence[str] = (),
) -> None:
    """Merges into weights that lie in files; merged ones are written to the folder `scratch`.

    SX2011 for weights that the checkpoint has in few bits, which no sum has, and for weights that
    other layers have, too.
    """
    known = model.state_dict(keep_vars=True)
    holders: dict[int, list[str]] = {}
    for other, tensor in known.items():
        holders.setdefault(id(tensor), []).append(other)
    for number, adapter in enumerate(adapters):
        for index, path in enumerate(adapter.layers):
            name = f"{path}.weight"
            place = placed.places[name]
            if place.name in quantized:
                raise refusal(
                    CODE,
                    f"'{name}' is quantized in the checkpoint: an adapter cannot be merged into it",
                    "--adapter takes it as an input of the model, in float",
                    UsageError,
                )
            tied = [other for other in holders[id(known[name])] if other != name]
            if tied:
                raise refusal(
                    CODE,
                    f"'{name}' is '{tied[0]}', too, which an adapter merged into it would change",
                    "--adapter takes it as an input of the model",
                    UsageError,
                )
            merged = _sum(mapped(place), adapter, path, model)
            made = kept({name: merged}, scratch / f"adapter-{number}-{index}.safetensors")
            placed.places[name] = made[0]
            if name not in placed.computed:
                placed.computed.append(name)


def _sum(weight: torch.Tensor, adapter: Adapter, path: str, model: torch.nn.Module) -> torch.Tensor:
    down, up = adapter.layers[path].matrices()
    change = down @ up  # [inputs, outputs]
    if isinstance(model.get_submodule(path), torch.nn.Linear):
        change = change.t()
    return weight.to(torch.float32) + change
