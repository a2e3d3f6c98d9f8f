"""The mode of a model during its export."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sardonyx._base.enumerators import TrainingMode

if TYPE_CHECKING:
    import torch


@contextmanager
def select_model_mode_for_export(model: Any, mode: Any) -> Iterator[Any]:
    """Within it, `model` and each module in it is in the mode that `mode` asks for.

    `mode` is a TrainingMode, ours or torch.onnx's: EVAL, TRAINING, or PRESERVE, which leaves them
    as they are. Modules are as they were afterwards, each for itself. TypeError for another mode.
    """
    name = getattr(mode, "name", None)
    if mode is not None and name not in TrainingMode.__members__:
        raise TypeError(f"mode should be a TrainingMode, but got {mode!r}")
    before: dict[torch.nn.Module, bool] = {}
    if hasattr(model, "modules") and name in ("EVAL", "TRAINING"):
        before = {module: module.training for module in model.modules()}
        model.train(name == "TRAINING")
    try:
        yield model
    finally:
        for module, training in before.items():
            module.training = training
