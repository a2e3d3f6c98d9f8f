"""What the report of an export says of its models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sardonyx._base.errors import Diagnostic
from sardonyx.hf.base.example import TOTAL_LENGTH

if TYPE_CHECKING:
    import torch

    from sardonyx.hf.checkpoints.weights import PlacedWeights


def of_known_inputs(known: Mapping[str, torch.Tensor], part: str) -> Iterable[str]:
    """Of inputs that have one value."""
    for name, value in known.items():
        yield (
            f"{name} is {_value_text(value)} in every run, and no input: {part} takes one "
            f"image or sound of that size in each run"
        )


def _value_text(value: torch.Tensor) -> str:
    ones = value.numel() > 8 and bool((value == 1).all())
    return f"{list(value.shape)} ones" if ones else str(value.tolist())


def is_worth_telling(note: Diagnostic) -> bool:
    """What a model asks of the length of all of a text always holds: it is the past's length and
    the tokens' together, which PyTorch knows as three sizes."""
    return note.code != "SX1015" or TOTAL_LENGTH not in note.message


def of_weights(placed: PlacedWeights) -> Iterable[str]:
    """Of weights that were computed, and of tensors that were not used."""
    if placed.computed:
        yield (
            f"{len(placed.computed)} weights were computed of several tensors of the checkpoint, "
            "as transformers does when it loads them"
        )
    if placed.unused:
        names = [weight.name for weight in placed.unused]
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        yield f"{len(names)} tensors of the checkpoint are not the model's: {shown}"
